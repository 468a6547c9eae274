// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn bench epoch GRAPH shows where the time of a training epoch goes, and how near it comes to its bound.
//
// The bound is the processor time of the epoch (computing and preparing, as the kernel counts it) divided by the number
// of cores that the process may use: no schedule can be faster without doing less. Waiting threads sleep, so none of
// that time is spinning. The first epoch warms caches and buffers and is not counted. On a GPU this bound means
// nothing; the report then gives the time of an epoch and of a step (for the device's best time, see the benchmark
// gnn_gpu_epoch).
//
// With --ranks or --gpus, or under mpirun and srun, several processes train as with `train`, with as many shards as
// ranks unless --shards is given; rank 0 reports its own times, and all end their steps together.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/json_fields.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/graph/parallel.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/device.h"
#include "hone-gnn/load_flag.h"
#include "hone-gnn/ranks.h"
#include "hone-gnn/run_setup.h"
#include "hone-gnn/train_flags.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {
namespace {

struct EpochBenchFlags {
  TrainFlags train;
  RunOptions run;
  DeviceFlags device;
  RankFlags ranks;
  FeatureRequest features;
  CLI::Option* shards = nullptr;
  std::string graph, load = "auto";
  int epochs = 3;
  bool json = false;
};

int64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{1024} * usage.ru_maxrss;
}

// Returns a clause about the ranks of the run, for the report's first line; empty for one rank.
std::string OfRanks(int ranks, const Trainer& trainer) {
  if (ranks == 1) return {};
  return fmt::format("; rank 0 of {}, which share the {} shards of a step", ranks, trainer.options().shards);
}

// Prints the report of a GPU, once the epochs are done.
void ReportGpu(const EpochBenchFlags& flags, const Graph& graph, const DeviceChoice& device, const GpuRun& gpu,
               Trainer& trainer, int ranks, const std::vector<EpochReport>& epochs) {
  const auto steps = static_cast<double>(trainer.steps_per_epoch());
  nlohmann::json list = nlohmann::json::array();
  std::vector<double> seconds;
  for (const EpochReport& e : epochs) {
    seconds.push_back(e.times.train);
    list.push_back({{"wall", e.times.train}, {"cpu", e.times.cpu}, {"ms_per_step", 1e3 * e.times.train / steps}});
    const EpochTimes& t = e.times;
    if (device.host_batches) {
      list.back().update({{"sample", t.sample},
                          {"slice", t.slice},
                          {"transfer", t.transfer},
                          {"compute", t.compute},
                          {"exposed", t.exposed},
                          {"sampled_nodes", e.sampled_nodes},
                          {"sampled_edges", e.sampled_edges}});
    }
    if (flags.json) continue;
    hone::Print("epoch {}: {:.4f} s, {:.4f} ms a step; {:.4f} s of the host's processors\n", e.epoch, e.times.train,
                1e3 * e.times.train / steps, e.times.cpu);
    if (!device.host_batches) continue;
    hone::Print(
        "  sample {:.3f} and slice {:.3f} s of workers, {:.3f} s of the bus, {:.3f} s of the GPU; waited {:.3f} s for "
        "batches\n",
        t.sample, t.slice, t.transfer, t.compute, t.exposed);
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  if (!flags.json) {
    hone::Print("median: {:.4f} s; {}, {} MiB of its memory{}\n", median, device.Line(), gpu.device_bytes >> 20,
                OfRanks(ranks, trainer));
    return;
  }
  nlohmann::json json = {{"graph", graph.name()},
                         {"nodes", graph.structure().num_nodes},
                         {"edges", gpu.num_edges},
                         {"model", ModelName(trainer.model().options())},
                         {"hidden", trainer.model().options().hidden},
                         {"fanouts", trainer.options().fanouts},
                         {"batch", trainer.options().batch},
                         {"ranks", ranks},
                         {"shards", trainer.options().shards},
                         {"steps", trainer.steps_per_epoch()},
                         {"device_bytes", gpu.device_bytes},
                         {"epochs", list},
                         {"median_wall", median}};
  if (device.features.host || device.features.peers) json["cache_rows"] = device.features.cache_rows;
  if (device.host_batches) json["workers"] = ThreadCount(flags.run.workers > 0 ? flags.run.workers : flags.run.threads);
  device.AppendTo(json);
  hone::Print("{}\n", DumpJson(json, 2));
}

Status Run(EpochBenchFlags& flags, RankSession& session, int& exit_status) {
  HONE_RETURN_IF_ERROR(CompleteTrainFlags(flags.train));
  TrainOptions& options = flags.train.train;
  options.epochs = flags.epochs + 1;
  options.eval_every = 0;
  HONE_ASSIGN_OR_RETURN(const RankPlace place, ThisRank(flags.ranks));
  if (place.launcher != "--ranks") HONE_RETURN_IF_ERROR(CheckGpus(flags.ranks));
  if (StartsRanks(flags.ranks, place)) {
    HONE_ASSIGN_OR_RETURN(exit_status, StartRanks(flags.ranks));
    return Status::Ok();
  }
  HONE_RETURN_IF_ERROR(session.Join(place, flags.ranks));
  Communicator& ranks = session.group().communicator();
  flags.run.communicator = &ranks;
  flags.run.threads = session.Threads(flags.run.threads);
  if (ranks.size() > 1 && flags.shards->count() == 0) options.shards = ranks.size();
  const ModelOptions& model = flags.train.model.options;
  std::vector<Setting> settings = {{"--epochs", std::to_string(flags.epochs)}};
  AppendSettings(flags.train, settings);
  HONE_ASSIGN_OR_RETURN(RunSetup setup,
                        SetUpRun({flags.graph, flags.ranks, flags.device, flags.features},
                                 {.place_on_gpu = [&](const GraphOutline& graph, bool fp32,
                                                      const FeatureRequest& requested) -> Result<FeaturePlace> {
                                    HONE_RETURN_IF_ERROR(GpuCanTrain(model, options, flags.run));
                                    return PlaceFeaturesOnGpu(graph, model, options, fp32, requested);
                                  },
                                  .settings = std::move(settings),
                                  .threads = flags.run.threads,
                                  .quiet = !session.speaks(),
                                  .load = flags.load},
                                 session));
  const DeviceChoice& device = setup.device;
  const std::shared_ptr<const Graph>& graph = setup.graph;
  const int64_t peak_before = PeakBytes();
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                        device.cuda ? MakeTrainerOnGpu(graph, model, options, flags.run, {}, setup.gpu)
                                    : MakeTrainer(graph, model, options, flags.run));
  std::vector<EpochReport> epochs;
  HONE_RETURN_IF_ERROR(trainer->Run({.epoch = [&](const EpochReport& e) { epochs.push_back(e); }}).status());
  if (!session.speaks()) return Status::Ok();
  epochs.erase(epochs.begin());
  if (device.cuda) {
    ReportGpu(flags, *graph, device, setup.gpu, *trainer, ranks.size(), epochs);
    return Status::Ok();
  }

  const int cores = ThreadCount(flags.run.threads);
  nlohmann::json list = nlohmann::json::array();
  std::vector<double> ratios;
  for (const EpochReport& e : epochs) {
    const EpochTimes& t = e.times;
    const double bound = t.cpu / cores;
    ratios.push_back(t.train / bound);
    list.push_back({{"wall", t.train},
                    {"sample", t.sample},
                    {"slice", t.slice},
                    {"transfer", t.transfer},
                    {"compute", t.compute},
                    {"exposed", t.exposed},
                    {"cpu", t.cpu},
                    {"bound", bound},
                    {"wall_over_bound", ratios.back()},
                    {"sampled_nodes", e.sampled_nodes},
                    {"sampled_edges", e.sampled_edges}});
    if (!flags.json) {
      hone::Print(
          "epoch {}: {:.3f} s; sample {:.3f} and slice {:.3f} s of workers, compute {:.3f} s, exposed {:.3f} s; "
          "{:.3f} s of processor time on {} cores: {:.3f} times the bound\n",
          e.epoch, t.train, t.sample, t.slice, t.compute, t.exposed, t.cpu, cores, ratios.back());
    }
  }
  std::sort(ratios.begin(), ratios.end());
  const double median = ratios[ratios.size() / 2];
  if (flags.json) {
    hone::Print("{}\n", DumpJson(nlohmann::json{{"graph", graph->name()},
                                                {"nodes", graph->structure().num_nodes},
                                                {"edges", graph->structure().num_edges()},
                                                {"model", ModelName(trainer->model().options())},
                                                {"hidden", trainer->model().options().hidden},
                                                {"fanouts", trainer->options().fanouts},
                                                {"batch", trainer->options().batch},
                                                {"ranks", ranks.size()},
                                                {"shards", trainer->options().shards},
                                                {"steps", trainer->steps_per_epoch()},
                                                {"cores", cores},
                                                {"graph_bytes", graph->resident_bytes()},
                                                {"peak_bytes_when_opened", peak_before},
                                                {"peak_bytes", PeakBytes()},
                                                {"epochs", list},
                                                {"median_wall_over_bound", median}},
                                 2));
  } else {
    hone::Print("median: {:.3f} times the bound; peak memory {} MiB, of which the graph {} MiB{}\n", median,
                PeakBytes() >> 20, graph->resident_bytes() >> 20, OfRanks(ranks.size(), *trainer));
  }
  return Status::Ok();
}

}  // namespace

void RegisterEpochBenchCommand(CLI::App& app, CommandResult& result) {
  const std::vector<CLI::App*> benches =
      app.get_subcommands([](CLI::App* command) { return command->get_name() == "bench"; });
  CLI::App* bench =
      benches.empty() ? app.add_subcommand("bench", "time parts of the engine on this machine") : benches[0];
  bench->require_subcommand(1);
  auto flags = std::make_shared<EpochBenchFlags>();
  CLI::App* command =
      bench->add_subcommand("epoch", "time a training epoch: its parts, what overlaps, and its lower bound");
  command
      ->add_option("graph", flags->graph,
                   "a graph file (container) that convert or generate wrote, or a graph that is made on the spot, such "
                   "as 'synthetic:arxiv?scale=0.1&seed=1'")
      ->required();
  AddTrainFlags(*command, flags->train);
  flags->shards = command->get_option("--shards");
  command->add_option("--epochs", flags->epochs, "how many epochs are measured, after one warm-up epoch")
      ->capture_default_str()
      ->check(kAboveZero);
  AddDeviceFlags(*command, flags->device);
  AddFeatureFlags(*command, flags->features);
  AddHostMemoryOption(*command, flags->features);
  AddPipelineOption(*command, flags->device);
  AddRankFlags(*command, flags->ranks);
  command->add_option("--threads", flags->run.threads, "how many threads compute; by default all the process may use")
      ->check(CLI::Range(0, 1024));
  command
      ->add_option("--workers", flags->run.workers, "how many threads prepare batches; by default as many as --threads")
      ->check(CLI::Range(0, 1024));
  command
      ->add_option("--queue", flags->run.queue,
                   "how many prepared batches may be under way or waiting; by default two more than --workers")
      ->check(kZeroOrMore);
  AddLoadFlag(*command, flags->load);
  command->add_flag("--json", flags->json, "print the result as JSON");
  command->callback([flags, &result] {
    int exit_status = 0;
    RankSession session;
    const Status status = Run(*flags, session, exit_status);
    result.exit_status = session.End(status, exit_status);
  });
}

}  // namespace hone::gnn
