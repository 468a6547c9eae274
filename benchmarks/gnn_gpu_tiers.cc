// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Training epochs on one GPU with features in the host's memory behind caches of several sizes, beside the epoch with
// everything in device memory: one process, one graph, one model that goes on training. JSON to a file, rewritten after
// each size, so that a run that is cut short leaves what it measured.
//
// Of each size: what an epoch reads and finds, how misses came, and how near the epoch comes to its bound, the larger of
// the device's epoch and the bytes that were missed over the best rate at which this machine moved rows (of all ways and
// all sizes of this run).
#include <cuda_runtime_api.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gnn/cuda/gpu_engine.h"
#include "gnn/graph/parallel.h"
#include "gnn/graph/synthetic_graph.h"
#include "gnn/graph/synthetic_shape.h"

namespace {

using namespace hone;
using namespace hone::gnn;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename T>
std::vector<T> Numbers(const std::string& text) {
  std::vector<T> all;
  std::istringstream list(text);
  for (std::string number; std::getline(list, number, ',');) all.push_back(static_cast<T>(std::strtod(number.c_str(), nullptr)));
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
    return {{"seconds", seconds}, {"median_seconds", median()}, {"median_ms_a_step", 1e3 * median() / static_cast<double>(steps)},
            {"steps_in_larger_envelope", larger}, {"losses", losses}};
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
  int epochs = 3, hidden = 256;
  int32_t batch = 1024;
  double limit = 1e9;
};

Status Run(const Flags& flags, nlohmann::json& report) {
  const double begun = Now();
  const auto write = [&] {
    std::ofstream(flags.output) << report.dump(1) << "\n";
  };
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
  report = {{"graph", flags.graph},   {"device", properties.name}, {"threads", ThreadCount(0)},
            {"nodes", nodes},         {"edges", engine->num_edges()}, {"row_bytes", row_bytes},
            {"fanouts", options.fanouts}, {"batch", options.batch}, {"hidden", flags.hidden},
            {"compute", "bf16"},      {"setup_seconds", Now() - begun}, {"device_bytes", engine->device_bytes()}};
  uint32_t epoch = 0;
  HONE_ASSIGN_OR_RETURN(const Epochs device, Train(*engine, flags.epochs + 1, &epoch));
  report["all_in_device_memory"] = device.Json();
  write();
  report["sizes"] = nlohmann::json::array();
  std::istringstream policies(flags.policies);
  for (std::string policy; std::getline(policies, policy, ',');) {
    for (const double percent : Numbers<double>(flags.percents)) {
      if (Now() - begun > flags.limit) {
        report["cut_short"] = "at " + std::to_string(Now() - begun) + " s";
        write();
        return Status::Ok();
      }
      cuda::FeatureStorage storage{.tier = cuda::FeatureTier::kCached};
      storage.cache_rows = static_cast<int64_t>(std::llround(percent / 100 * static_cast<double>(nodes)));
      storage.ranking = policy == "inclusion" ? cuda::CacheRanking::kInclusion : cuda::CacheRanking::kPresampling;
      storage.misses = flags.misses == "zero-copy" ? cuda::MissPath::kZeroCopy
                       : flags.misses == "staged"  ? cuda::MissPath::kStaged
                                                   : cuda::MissPath::kFastest;
      const double changing = Now();
      HONE_RETURN_IF_ERROR(engine->SetStorage(**graph, storage));
      const double changed = Now();
      HONE_ASSIGN_OR_RETURN(const cuda::CacheReads reads, engine->ReadsOfEpoch(**graph, epoch));
      HONE_ASSIGN_OR_RETURN(const Epochs epochs, Train(*engine, flags.epochs, &epoch));
      const cuda::StorageFacts& facts = engine->storage();
      const auto a_batch = [&](int64_t rows) { return static_cast<double>(rows) / static_cast<double>(reads.batches); };
      report["sizes"].push_back({{"policy", policy},
                                 {"percent", percent},
                                 {"cache_rows", facts.cached_rows},
                                 {"setup_seconds", changed - changing},
                                 {"hit_rate", static_cast<double>(reads.hits) / static_cast<double>(reads.rows)},
                                 {"unique_rows_a_step", a_batch(reads.rows)},
                                 {"unique_misses_a_step", a_batch(reads.rows - reads.hits)},
                                 {"miss_path", facts.staged ? "staged" : "zero-copy"},
                                 {"measured_at_start",
                                  {{"zero_copy_ms", facts.measured.zero_copy_ms}, {"staged_ms", facts.measured.staged_ms}}},
                                 {"epoch", epochs.Json()},
                                 {"over_device_epoch", epochs.median() / device.median()},
                                 {"achieved_gigabytes_a_second", static_cast<double>((reads.rows - reads.hits) * row_bytes) / epochs.median() * 1e-9}});
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
  CLI::App app{"Times epochs with features in host memory behind caches of several sizes."};
  app.add_option("graph", flags.graph);
  app.add_option("--percents", flags.percents, "of the rows that the caches hold");
  app.add_option("--policies", flags.policies, "inclusion, presampling");
  app.add_option("--misses", flags.misses, "fastest, zero-copy or staged");
  app.add_option("--fanout", flags.fanout);
  app.add_option("--batch", flags.batch);
  app.add_option("--hidden", flags.hidden);
  app.add_option("--epochs", flags.epochs, "of each size, and one more of the device's");
  app.add_option("--limit", flags.limit, "seconds after which no other size begins");
  app.add_option("--output", flags.output)->required();
  CLI11_PARSE(app, argc, argv);
  nlohmann::json report;
  const Status status = Run(flags, report);
  if (status.ok()) return 0;
  std::fprintf(stderr, "gnn_gpu_tiers: %s\n", status.message().c_str());
  return 3;
}
