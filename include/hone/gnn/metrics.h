// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How right predicted classes are: accuracy, F1, the confusion matrix, and for two classes the area under the ROC
// curve.
//
// Values only, any thread. Nodes without a label count nowhere.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// How often each class is the label, the prediction, and both. Counts of parts add up to those of the whole.
struct ClassCounts {
  std::vector<int64_t> actual, predicted, correct;  // [num_classes] each

  ClassCounts() = default;
  explicit ClassCounts(int64_t num_classes);
  // label: 0 … num_classes - 1, or kNoLabel, which counts nothing.
  void Add(int32_t label, int32_t prediction);
  int64_t labelled() const;
  int64_t right() const;
};

// Share of labelled nodes whose class is predicted, which is also their micro-averaged F1; NaN when none is labelled.
double AccuracyOf(const ClassCounts& counts);
// Mean of the classes' F1, each 2 * correct / (actual + predicted), over the classes that are the label or the
// prediction of some node; NaN when none is labelled.
double MacroF1(const ClassCounts& counts);

// [num_classes, num_classes] row-major: nodes by label (row) and prediction (column). `classes`: of `nodes`, in their
// order.
std::vector<int64_t> ConfusionMatrix(std::span<const int32_t> classes, std::span<const NodeId> nodes,
                                     std::span<const int32_t> labels, int64_t num_classes);

// A node whose label is class 1 (positive) or 0, and how much more the model says 1 than 0: the difference of the
// logits, or anything that grows with it.
struct ScoredNode {
  float score = 0;
  bool positive = false;
};
// Probability that a positive node scores above a negative one, ties counted half (Mann and Whitney 1947); NaN when
// either kind is missing. Takes the list by value, for it is sorted.
double RocAuc(std::vector<ScoredNode> nodes);

// What the best epoch of a run is chosen by. Larger is better.
enum class Metric : uint8_t { kAccuracy, kMacroF1, kRocAuc };
std::string_view MetricName(Metric metric);  // "accuracy", "macro-f1", "auc"
// kInvalidArgument names those there are.
Result<Metric> ParseMetric(std::string_view name);

}  // namespace hone::gnn
