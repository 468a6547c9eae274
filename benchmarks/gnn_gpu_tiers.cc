// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains epochs on one GPU with features in the host's memory behind caches of several sizes, and an epoch with
// everything in device memory for comparison: one process, one graph, one model that goes on training. Writes JSON to a
// file, again after each size, so that a run that is cut short leaves what it has measured.
//
// For each size, the report says how many rows an epoch reads and finds in the cache, how missing rows were fetched,
// and how near the epoch comes to its bound. The bound is the larger of two times: that of the epoch in device memory,
// and that of the missed bytes at the best rate at which this machine moved rows (over all ways and all sizes of this
// run). At the end the program runs SALIENT's scheme on the same machine: batches from the host's cores.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "benchmarks/arguments.h"
#include "gnn/cuda/engine/feed.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/graph/parallel.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

namespace {

using namespace hone;
using namespace hone::gnn;

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <typename T>
std::vector<T> Numbers(const std::string& text) {
  std::vector<T> all;
  std::istringstream list(text);
  for (std::string number; std::getline(list, number, ',');)
    all.push_back(static_cast<T>(std::strtod(number.c_str(), nullptr)));
  return all;
}

struct Epochs {
  std::vector<double> seconds;
  std::vector<double> losses;
  int64_t steps = 0, larger = 0;
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  nlohmann::json Json() const {
    return {{"seconds", seconds},
            {"median_seconds", median()},
            {"median_ms_a_step", 1e3 * median() / static_cast<double>(steps)},
            {"steps_in_larger_envelope", larger},
            {"losses", losses}};
  }
};

Result<Epochs> Train(cuda::GpuEngine& engine, int epochs, uint32_t* epoch) {
  Epochs result;
  for (int i = 0; i < epochs; ++i) {
    HONE_ASSIGN_OR_RETURN(const cuda::EpochOnDevice ran, engine.TrainEpoch((*epoch)++));
    result.seconds.push_back(ran.seconds);
    result.losses.push_back(ran.mean_loss);
    result.steps = ran.steps;
    result.larger += ran.larger;
  }
  return result;
}

struct Flags {
  std::string graph = "synthetic:papers100M?scale=0.1&seed=1";
  std::string percents = "1,2,5,10,20,50", policies = "inclusion,presampling", fanout = "15,10,5";
  std::string misses = "fastest", output;
  int epochs = 3, hidden = 256, pipeline_epochs = 2, workers = 0;
  int32_t batch = 1024;
  double limit = 1e9;
};

// Runs SALIENT's scheme: the host's cores sample and slice, the bus copies, the device trains. Measures each stage by
// itself, and epochs of all stages together, of which the first only warms up buffers.
Status TrainFed(const Flags& flags, const Graph& outline, const cuda::GpuEngineOptions& options,
                cuda::GpuEngine& engine, uint32_t epoch, double device_seconds, nlohmann::json& report) {
  const double begun = Now();
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, engine.HostGraph(outline));
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<cuda::HostFeed> feed,
      cuda::HostFeed::Make(graph, options, {.workers = flags.workers, .buffer_bytes = int64_t{12} << 30}));
  report = {{"workers", feed->workers()}, {"setup_seconds", Now() - begun}, {"epochs", nlohmann::json::array()}};
  std::vector<double> seconds;
  for (int i = 0; i <= flags.pipeline_epochs; ++i) {
    HONE_ASSIGN_OR_RETURN(const cuda::FedEpoch ran, engine.TrainFedEpoch(epoch++, *feed));
    const auto steps = static_cast<double>(ran.epoch.steps);
    if (i > 0) seconds.push_back(ran.epoch.seconds);
    report["epochs"].push_back({{"warm_up", i == 0},
                                {"seconds", ran.epoch.seconds},
                                {"ms_a_step", 1e3 * ran.epoch.seconds / steps},
                                {"loss", ran.epoch.mean_loss},
                                {"processor_seconds_sampling", ran.sample_seconds},
                                {"processor_seconds_slicing", ran.slice_seconds},
                                {"sampling_over_workers", ran.sample_seconds / ran.workers},
                                {"slicing_over_workers", ran.slice_seconds / ran.workers},
                                {"copy_seconds", ran.copy_seconds},
                                {"training_seconds", ran.compute_seconds},
                                {"waited_for_batches", ran.wait_seconds},
                                {"rows_a_step", static_cast<double>(ran.rows) / steps},
                                {"steps_in_larger_envelope", ran.epoch.larger}});
  }
  std::sort(seconds.begin(), seconds.end());
  report["median_seconds"] = seconds[seconds.size() / 2];
  report["over_device_epoch"] = seconds[seconds.size() / 2] / device_seconds;
  return Status::Ok();
}

// Finds the best rate at which rows were fetched, and from it the bound of each size.
void Bound(double device_seconds, nlohmann::json& report) {
  double best = 0;
  for (const nlohmann::json& size : report["sizes"]) {
    best = std::max({best, size["achieved_gigabytes_a_second"].get<double>(),
                     size["measured_at_start"]["staged_gigabytes_a_second"].get<double>()});
  }
  report["best_row_rate_gigabytes_a_second"] = best;
  for (nlohmann::json& size : report["sizes"]) {
    const double bus = best > 0 ? size["missed_bytes"].get<double>() * 1e-9 / best : 0;
    const double bound = std::max(device_seconds, bus);
    size["bound_seconds"] = bound;
    size["over_bound"] = size["epoch"]["median_seconds"].get<double>() / bound;
  }
}

Status Run(const Flags& flags, nlohmann::json& report) {
  const double begun = Now();
  const auto write = [&] { std::ofstream(flags.output) << report.dump(1) << "\n"; };
  Result<std::shared_ptr<const Graph>> graph =
      IsSyntheticName(flags.graph) ? OutlineSyntheticGraph(flags.graph) : OpenGraph(flags.graph);
  HONE_RETURN_IF_ERROR(graph.status());
  cuda::GpuEngineOptions options;
  options.fanouts = options.eval_fanouts = Numbers<int32_t>(flags.fanout);
  options.batch = flags.batch;
  ModelOptions shape;
  shape.kind = "sage";
  shape.in_width = (*graph)->features().width;
  shape.hidden = flags.hidden;
  shape.num_classes = (*graph)->num_classes();
  shape.layers = static_cast<int>(options.fanouts.size());
  shape.seed = 1;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Model<float>> model, MakeModel(shape));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<cuda::GpuEngine> engine, cuda::MakeGpuEngine(**graph, *model, options));
  cudaDeviceProp properties{};
  (void)cudaGetDeviceProperties(&properties, 0);
  const int64_t nodes = (*graph)->structure().num_nodes, row_bytes = (*graph)->features().stride_bytes;
  report = {{"graph", flags.graph},           {"device", properties.name},
            {"threads", ThreadCount(0)},      {"nodes", nodes},
            {"edges", engine->num_edges()},   {"row_bytes", row_bytes},
            {"fanouts", options.fanouts},     {"batch", options.batch},
            {"hidden", flags.hidden},         {"compute", "bf16"},
            {"setup_seconds", Now() - begun}, {"device_bytes", engine->device_bytes()}};
  uint32_t epoch = 0;
  HONE_ASSIGN_OR_RETURN(const Epochs device, Train(*engine, flags.epochs + 1, &epoch));
  report["all_in_device_memory"] = device.Json();
  write();
  const auto storage_of = [&](const std::string& policy, double percent) {
    cuda::FeatureStorage storage{.tier = cuda::FeatureTier::kCached};
    storage.cache_rows = static_cast<int64_t>(std::llround(percent / 100 * static_cast<double>(nodes)));
    storage.ranking = policy == "inclusion" ? cuda::CacheRanking::kInclusion : cuda::CacheRanking::kPresampling;
    storage.misses = flags.misses == "zero-copy" ? cuda::MissPath::kZeroCopy
                     : flags.misses == "staged"  ? cuda::MissPath::kStaged
                                                 : cuda::MissPath::kFastest;
    return storage;
  };
  const std::vector<double> percents = Numbers<double>(flags.percents);
  if (flags.pipeline_epochs > 0) {
    // The features move to the host's memory, where the cores read them.
    const double moving = Now();
    HONE_RETURN_IF_ERROR(engine->SetStorage(**graph, storage_of("inclusion", percents.empty() ? 1 : percents[0])));
    report["seconds_to_move_features"] = Now() - moving;
    HONE_RETURN_IF_ERROR(TrainFed(flags, **graph, options, *engine, epoch, device.median(), report["host_pipeline"]));
    write();
  }
  report["sizes"] = nlohmann::json::array();
  const auto number = [](double value) { return nlohmann::json(value).dump(); };
  std::istringstream policies(flags.policies);
  bool late = false;
  for (std::string policy; !late && std::getline(policies, policy, ',');) {
    for (const double percent : percents) {
      late = Now() - begun > flags.limit;
      if (late) {
        report["cut_short"] = "left out: from " + policy + " " + number(percent) + " % on";
        break;
      }
      const double changing = Now();
      HONE_RETURN_IF_ERROR(engine->SetStorage(**graph, storage_of(policy, percent)));
      const double changed = Now();
      HONE_ASSIGN_OR_RETURN(const cuda::CacheReads reads, engine->ReadsOfEpoch(**graph, epoch));
      HONE_ASSIGN_OR_RETURN(const Epochs epochs, Train(*engine, flags.epochs, &epoch));
      const cuda::StorageFacts& facts = engine->storage();
      const int64_t misses = reads.rows - reads.hits;
      const auto a_batch = [&](int64_t rows) { return static_cast<double>(rows) / static_cast<double>(reads.batches); };
      report["sizes"].push_back(
          {{"policy", policy},
           {"percent", percent},
           {"cache_rows", facts.cached_rows},
           {"setup_seconds", changed - changing},
           {"hit_rate", static_cast<double>(reads.hits) / static_cast<double>(reads.rows)},
           {"unique_rows_a_step", a_batch(reads.rows)},
           {"unique_misses_a_step", a_batch(misses)},
           {"missed_bytes", misses * row_bytes},
           {"managed_memory", facts.managed},
           {"miss_path", facts.staged ? "staged" : "zero-copy"},
           {"measured_at_start",
            {{"zero_copy_ms", facts.measured.zero_copy_ms},
             {"staged_ms", facts.measured.staged_ms},
             {"staged_rows", facts.measured.rows},
             {"staged_gigabytes_a_second",
              facts.measured.staged_ms > 0
                  ? static_cast<double>(facts.measured.rows * row_bytes) / facts.measured.staged_ms * 1e-6
                  : 0}}},
           {"epoch", epochs.Json()},
           {"over_device_epoch", epochs.median() / device.median()},
           {"achieved_gigabytes_a_second", static_cast<double>(misses * row_bytes) / epochs.median() * 1e-9}});
      Bound(device.median(), report);
      write();
    }
  }
  report["seconds"] = Now() - begun;
  write();
  return Status::Ok();
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  Arguments app("Times epochs with features in host memory behind caches of several sizes.");
  app.Add("graph", flags.graph);
  app.Add("--percents", flags.percents, "of the rows that the caches hold");
  app.Add("--policies", flags.policies, "inclusion, presampling");
  app.Add("--misses", flags.misses, "fastest, zero-copy or staged");
  app.Add("--fanout", flags.fanout);
  app.Add("--batch", flags.batch);
  app.Add("--hidden", flags.hidden);
  app.Add("--epochs", flags.epochs, "of each size, and one more of the device's");
  app.Add("--pipeline-epochs", flags.pipeline_epochs, "of batches that the host prepares, after one more; 0: none");
  app.Add("--workers", flags.workers, "threads that prepare them; 0: all the process may use");
  app.Add("--limit", flags.limit, "seconds after which no other size begins");
  app.Add("--output", flags.output, "", {.required = true});
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  nlohmann::json report;
  const Status status = Run(flags, report);
  if (status.ok()) return 0;
  std::fprintf(stderr, "gnn_gpu_tiers: %s\n", status.message().c_str());
  return 3;
}
