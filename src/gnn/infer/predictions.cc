// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes classes, probabilities and accuracy from logits.
#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/gnn/predictor.h"

namespace hone::gnn {

std::vector<int32_t> PredictedClasses(const Predictions& predictions) {
  std::vector<int32_t> classes(static_cast<size_t>(predictions.num_nodes));
  const float* row = predictions.logits.data();
  for (int32_t& predicted : classes) {
    predicted = static_cast<int32_t>(std::max_element(row, row + predictions.num_classes) - row);
    row += predictions.num_classes;
  }
  return classes;
}

void LogitsToProbabilities(Predictions& predictions) {
  float* row = predictions.logits.data();
  for (int64_t i = 0; i < predictions.num_nodes; ++i, row += predictions.num_classes) {
    const float largest_logit = *std::max_element(row, row + predictions.num_classes);
    double sum = 0;
    for (int64_t c = 0; c < predictions.num_classes; ++c) sum += std::exp(static_cast<double>(row[c] - largest_logit));
    for (int64_t c = 0; c < predictions.num_classes; ++c) {
      row[c] = static_cast<float>(std::exp(static_cast<double>(row[c] - largest_logit)) / sum);
    }
  }
}

void LogitsToOutputs(TargetKind kind, Predictions& predictions) {
  if (kind == TargetKind::kClasses) return LogitsToProbabilities(predictions);
  if (kind == TargetKind::kValues) return;
  for (float& x : predictions.logits) {
    const double exp_of_negative = std::exp(-std::fabs(static_cast<double>(x)));
    x = static_cast<float>(x >= 0 ? 1 / (1 + exp_of_negative) : exp_of_negative / (1 + exp_of_negative));
  }
}

TargetKind PredictedTargets(const LoadedModel& loaded, const Graph& graph) {
  return graph.labels().empty() ? loaded.targets.value_or(TargetKind::kClasses) : graph.targets().kind;
}

void UndoStandardization(const LoadedModel& loaded, std::span<float> outputs) {
  const size_t columns = loaded.target_means.size();
  for (size_t i = 0; columns > 0 && i < outputs.size(); ++i) {
    const size_t c = i % columns;
    outputs[i] = static_cast<float>(static_cast<double>(outputs[i]) * loaded.target_scales[c] + loaded.target_means[c]);
  }
}

double Accuracy(std::span<const int32_t> classes, std::span<const NodeId> nodes, std::span<const int32_t> labels) {
  int64_t labelled = 0, right = 0;
  for (size_t i = 0; i < nodes.size() && !labels.empty(); ++i) {
    const int32_t label = labels[static_cast<size_t>(nodes[i])];
    labelled += label != kNoLabel;
    right += label != kNoLabel && label == classes[i];
  }
  if (labelled == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(right) / static_cast<double>(labelled);
}

}  // namespace hone::gnn
