// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/run_setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/graph/synthetic/synthetic_shape.h"
#include "hone-gnn/feature_agreement.h"
#include "hone-gnn/graph_progress.h"
#include "hone-gnn/load_flag.h"
#include "hone/gnn/communicator.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {
namespace {

// Returns the device flags of one of several ranks: its GPU is the one with its number on the host.
Result<DeviceFlags> DeviceOfRank(const RunFlags& flags, ProcessGroup& group) {
  DeviceFlags device = flags.device;
  if (flags.ranks.gpus > 0) {
    if (device.device != "auto" && device.device != "cuda") {
      return Status::InvalidArgument(
          fmt::format("--gpus and --device {} cannot be given together: each rank takes one GPU of its host, beginning "
                      "with the first; leave --device out (and choose GPUs by CUDA_VISIBLE_DEVICES)",
                      device.device));
    }
    device.device = "cuda";
  }
  if (group.size() == 1 || !device.device.starts_with("cuda")) return device;
  if (device.device != "cuda") {
    return Status::InvalidArgument(fmt::format(
        "--device {}: of several ranks each takes one GPU of its host; say --device cuda", device.device));
  }
  HONE_ASSIGN_OR_RETURN(const int gpus, CountGpus());
  // A launcher that shows each rank only one GPU has already chosen it.
  device.device = fmt::format("cuda:{}", gpus == 1 ? 0 : group.local_rank());
  return device;
}

// Chooses the device. An `auto` is replaced by the result, because the graph's form depends on it.
Result<DeviceChoice> ChooseDeviceOf(const RunFlags& flags, const RunQuestions& questions, ProcessGroup& group) {
  HONE_ASSIGN_OR_RETURN(const DeviceFlags device_flags, DeviceOfRank(flags, group));
  return ChooseDevice(device_flags, [&](DeviceChoice& device) -> Status {
    HONE_ASSIGN_OR_RETURN(const GraphOutline graph, OutlineOf(flags.graph));
    if (device_flags.device == "auto" && (flags.ranks.ranks > 0 || group.size() > 1)) {
      return Status::InvalidArgument("several ranks share this host's processors");
    }
    if (questions.rank0_only && group.rank() != 0) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(device.features, questions.place_on_gpu(graph, device.fp32, flags.features));
    return Status::Ok();
  });
}

// Decides where features are, equally on all ranks, once each rank has a device.
Status ShareFeatures(const RunFlags& flags, const RunQuestions& questions, Communicator& ranks, DeviceChoice& device) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> devices,
                        ranks.AllGather("the kinds of devices", device.cuda ? "cuda" : "cpu"));
  // Ranks with different devices are refused later, together with all other settings that differ.
  if (!std::all_of(devices.begin(), devices.end(), [](const std::string& name) { return name == "cuda"; })) return Status::Ok();
  const FeaturesHeld held = [&](const FeatureRequest& requested) -> Result<FeaturePlace> {
    HONE_ASSIGN_OR_RETURN(const GraphOutline graph, OutlineOf(flags.graph));
    return questions.place_on_gpu(graph, device.fp32, requested);
  };
  HONE_ASSIGN_OR_RETURN(device.features, AgreeOnFeatures(ranks, flags.features, device.features, questions.rank0_only,
                                                         held, GpusShareMemory));
  return Status::Ok();
}

// Returns the settings that must be equal on all ranks. Files that only rank 0 reads and writes need not be.
std::vector<Setting> SettingsOf(const RunFlags& flags, const RunQuestions& questions, const RunSetup& setup) {
  // A synthetic graph is compared by its name, which determines it: on a GPU it is not generated yet.
  const std::string& name = setup.graph->name();
  const bool is_synthetic_on_gpu = setup.device.cuda && IsSyntheticName(name);
  std::vector<Setting> settings = {
      {"version", HONE_VERSION},
      {"--device", setup.device.cuda ? "cuda" : "cpu"},
      {"--precision", setup.device.precision()},
      {"--features", setup.device.features.name()},
      {"--exchange", flags.ranks.exchange},
      {"--pipeline", setup.device.host_batches ? "cpu" : "gpu"},
      {"--pipeline-without", setup.device.host_cuts.Text()},
      {"a graph with fingerprint", is_synthetic_on_gpu ? name : GraphFingerprint(*setup.graph)}};
  settings.insert(settings.end(), questions.settings.begin(), questions.settings.end());
  return settings;
}

}  // namespace

Status CheckGpus(const RankFlags& flags) {
  if (flags.gpus == 0) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(const int gpus, CountGpus());
  if (flags.gpus <= gpus) return Status::Ok();
  return Status::InvalidArgument(fmt::format("--gpus {}: there {} here", flags.gpus,
                                             gpus == 1 ? "is one GPU" : fmt::format("are {} GPUs", gpus)));
}

Result<RunSetup> SetUpRun(RunFlags flags, const RunQuestions& questions, RankSession& session) {
  ProcessGroup& group = session.group();
  Communicator& ranks = group.communicator();
  flags.features.host_batches = flags.device.pipeline == "cpu";
  flags.features.local_ranks = group.ranks_on_this_host();
  flags.features.peers = group.ranks_on_this_host() == ranks.size() ? ranks.size() : 1;
  RunSetup setup;
  Result<DeviceChoice> chosen = ChooseDeviceOf(flags, questions, group);
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "the device", chosen.status()));
  setup.device = std::move(*chosen);
  if (session.speaks()) WarnOfIgnoredOptions(setup.device);
  HONE_RETURN_IF_ERROR(ShareFeatures(flags, questions, ranks, setup.device));
  const DeviceChoice& device = setup.device;
  {
    GraphProgressLine line(!questions.quiet);
    OpenGraphOptions open;
    open.threads = questions.threads;
    open.load = LoadOf(questions.load);
    // Ranks whose GPUs copy what they need share the file's pages.
    if (questions.load == "auto" && device.cuda && !device.host_batches && ranks.size() > 1) {
      open.load = OpenGraphOptions::Load::kMap;
    }
    open.progress = line.callback();
    Result<std::shared_ptr<const Graph>> opened = OpenGraphFor(device, flags.graph, open, questions.split);
    HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "the graph", opened.status()));
    setup.graph = std::move(*opened);
  }
  HONE_RETURN_IF_ERROR(AgreeOnSettings(ranks, SettingsOf(flags, questions, setup)));
  GpuRun& gpu = setup.gpu;
  gpu.fp32 = device.fp32;
  gpu.features = device.features;
  gpu.host_batches = device.host_batches;
  gpu.host_cuts = device.host_cuts;
  gpu.most_host_bytes = static_cast<int64_t>(flags.features.host_gib * 1073741824.0);
  if (device.cuda && ranks.size() > 1) {
    HONE_ASSIGN_OR_RETURN(gpu.exchange, ConnectGpus(group, flags.ranks.exchange));
  }
  return setup;
}

}  // namespace hone::gnn
