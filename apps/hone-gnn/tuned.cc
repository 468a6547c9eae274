// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/tuned.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/text/json_text.h"
#include "common/standard_output.h"
#include "gnn/nn/spec_units.h"
#include "hone-gnn/device.h"
#include "hone-gnn/graph_progress.h"

namespace hone::gnn {
namespace {

using nlohmann::json;

// Returns, by task, the hash of the engine.cu that this program writes for it.
Result<std::map<std::string, std::string>> EngineHashes(const ModelOptions& model, const RowDtypes& dtypes) {
  std::map<std::string, std::string> hashes;
  if (model.spec == nullptr) return hashes;
  HONE_ASSIGN_OR_RETURN(const SpecShapes shapes, CheckModelSpec(*model.spec, model.in_width, model.num_classes));
  for (const HotOperation& operation :
       FindHotOperations(*model.spec, shapes, LowerToUnits(*model.spec, shapes)).operations) {
    const std::string engine = MakeTaskTexts(operation, model.spec->name, dtypes, {}).engine;
    if (!engine.empty()) hashes.emplace(TaskName(operation), Sha256Hex(engine));  // a task is written for the first
  }
  return hashes;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string GainText(double ratio) { return fmt::format("{:+.2f} %", 100 * (ratio - 1)); }

}  // namespace

TuningPlace PlaceOf(const ModelOptions& model, const TrainOptions& options, const Graph& graph, bool fp32,
                    const std::string& gpu) {
  return {.model = ModelName(model),
          .model_hash = Sha256Hex(model.spec != nullptr ? ModelSpecText(*model.spec) : "published " + model.kind),
          .graph = graph.name(),
          .graph_nodes = graph.structure().num_nodes,
          .fp32 = fp32,
          .fanouts = options.fanouts,
          .batch = options.batch,
          .gpu = gpu};
}

Result<KernelChoices> ChoicesFor(const std::string& path, const TuningPlace& run) {
  HONE_ASSIGN_OR_RETURN(TunedKernels tuned, ReadTunedKernels(path));
  const std::string why = WhyNotHere(tuned.place, run);
  if (why.empty()) return std::move(tuned.choices);
  hone::PrintError("hone-gnn: note: --tuned {} is not used: {}; the engine's own kernels run\n", path, why);
  return KernelChoices{};
}

Status ApplyWinners(const ApplyFlags& flags, const std::string& graph_name, ModelOptions model,
                    const TrainOptions& options, bool fp32, int& exit_status) {
  if (model.spec == nullptr) {
    return Status::InvalidArgument(fmt::format(
        "--apply: a GPU runs model '{}' whole, as a program of its own whose kernels have no choices; only models of "
        "a .toml file have some",
        model.kind));
  }
  HONE_ASSIGN_OR_RETURN(const TaskFolder folder, ReadTaskFolder(flags.folder));
  HONE_ASSIGN_OR_RETURN(const DeviceChoice device,
                        ChooseDevice({.device = flags.device, .precision = fp32 ? "fp32" : "bf16"},
                                     [](DeviceChoice&) { return Status::Ok(); }));
  std::shared_ptr<const Graph> graph;
  {
    GraphProgressLine line(!flags.quiet);
    OpenGraphOptions open;
    open.progress = line.callback();
    HONE_ASSIGN_OR_RETURN(graph, OpenGraphFor(device, graph_name, open));
  }
  model.in_width = graph->features().width;
  model.num_classes = graph->num_classes();
  const TuningPlace place = PlaceOf(model, options, *graph, fp32, device.gpu.name);
  if (const std::string why = WhyNotHere(folder.place, place); !why.empty()) {
    return Status::InvalidArgument(
        fmt::format("--apply {}: {}; give the model and options with which the tasks were written", flags.folder, why));
  }
  HONE_ASSIGN_OR_RETURN(const auto hashes, EngineHashes(model, {graph->features().dtype, fp32}));
  HONE_ASSIGN_OR_RETURN(const Winners winners, ReadWinners(flags.folder, folder, hashes, device.gpu.name));
  for (const std::string& note : winners.notes) hone::PrintError("hone-gnn: note: {}\n", note);
  if (winners.choices.aggregates.empty()) {
    hone::PrintError(
        "hone-gnn: {} has no winner that differs from the engine's own kernels; nothing is written (first: hone tune "
        "TASK TASK/engine.cu --baseline TASK/engine.cu --out TASK/winner.json)\n",
        flags.folder);
    exit_status = 1;
    return Status::Ok();
  }
  HONE_ASSIGN_OR_RETURN(const PairedOnGpu paired,
                        PairEpochsOnGpu(*graph, model, options, fp32, winners.choices, flags.epochs));
  const PairedRatio speedup = RatioOfPairs(paired.own, paired.chosen);
  const bool gains = paired.same_bits && speedup.lower > 1;
  Status write_status;
  if (gains) {
    write_status = WriteFileAtomically(flags.out, TunedText({place, winners.choices, speedup, flags.epochs}));
  }
  exit_status = gains && write_status.ok() ? 0 : 1;
  if (flags.json) {
    const json report = {{"model", place.model},
                         {"graph", place.graph},
                         {"gpu", place.gpu},
                         {"used", winners.used},
                         {"notes", winners.notes},
                         {"seconds", {{"own", paired.own}, {"chosen", paired.chosen}}},
                         {"speedup", {{"of_an_epoch", speedup.ratio}, {"low", speedup.lower}, {"high", speedup.upper}}},
                         {"same_bits", paired.same_bits},
                         {"written", gains && write_status.ok() ? json(flags.out) : json(nullptr)}};
    hone::Print("{}\n", DumpJson(report, 2));
    return write_status;
  }
  hone::Print("{} on {}, {} pairs of epochs over {}:\n", place.model, place.gpu, flags.epochs, place.graph);
  for (const std::string& chosen_kernel : winners.used) hone::Print("  {}\n", chosen_kernel);
  hone::Print(
      "An epoch takes {:.4f} s with the engine's own kernels and {:.4f} s with these (medians): {} [{}, {}] faster.\n",
      Median(paired.own), Median(paired.chosen), GainText(speedup.ratio), GainText(speedup.lower),
      GainText(speedup.upper));
  if (!paired.same_bits) {
    hone::Print(
        "Losses or parameters have other bits than with the engine's own kernels, which is a bug of the engine; "
        "nothing is written.\n");
  } else if (!gains) {
    hone::Print("The lower bound of the gain is not above zero; nothing is written.\n");
  } else if (write_status.ok()) {
    hone::Print(
        "All losses and parameters have the same bits. Written: {}\nUse it: hone-gnn train {} --model FILE.toml "
        "--tuned {}\n",
        flags.out, graph_name, flags.out);
  }
  return write_status;
}

}  // namespace hone::gnn
