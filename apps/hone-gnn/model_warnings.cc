// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/model_warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/standard_output.h"
#include "gnn/infer/safetensors.h"

namespace hone::gnn {
namespace {

std::string FanoutsText(const std::vector<int32_t>& fanouts) {
  std::string text;
  for (const int32_t fanout : fanouts) {
    text += (text.empty() ? "" : ",") + (fanout == kAllNeighbors ? std::string("all") : std::to_string(fanout));
  }
  return text;
}

}  // namespace

std::vector<std::string> CheckpointWarnings(const LoadedModel& loaded) {
  if (loaded.has_checksum) return {};
  return {NoChecksumNote(fmt::format("'{}'", loaded.file))};
}

std::string SumsWarning(const LoadedModel& loaded, const PredictOptions& predict) {
  const ModelOptions& model = loaded.model->options();
  bool sums = model.kind == "gin" || (model.kind == "sage" && model.aggregation == "sum");
  for (size_t i = 0; model.spec != nullptr && i < model.spec->values.size(); ++i) {
    const auto* aggregate = std::get_if<AggregateSpec>(&model.spec->values[i].operation);
    // A symmetric sum over a sample estimates the sum over all neighbors.
    sums = sums || (aggregate != nullptr && *aggregate == AggregateSpec{AggregateSpec::How::kSum});
  }
  if (!sums || !loaded.has_training) return {};
  bool more = false;  // some hop now uses all neighbors, where training used a sample
  for (size_t hop = 0; hop < loaded.fanouts.size(); ++hop) {
    const bool takes_all_neighbors =
        predict.exact || (hop < predict.fanouts.size() && predict.fanouts[hop] == kAllNeighbors);
    more = more || (takes_all_neighbors && loaded.fanouts[hop] != kAllNeighbors);
  }
  if (!more) return {};
  return fmt::format(
      "this {} model adds up its neighbors' rows and was trained on samples ({} neighbors a hop): with every neighbor "
      "its "
      "sums are larger than any it was trained on, and accuracy can be far lower. {}--fanout {} predicts as it was "
      "trained; docs/models-gnn.md, \"Sums and samples\", has the reason",
      ModelName(model), FanoutsText(loaded.fanouts), predict.exact ? "Without --full, " : "", FanoutsText(loaded.fanouts));
}

void WarnOnStderr(const std::string& sentence) { PrintError("hone-gnn: warning: {}\n", sentence); }

}  // namespace hone::gnn
