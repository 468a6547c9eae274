// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures predicted classes: accuracy, F1, the confusion matrix, and for two classes the area under the ROC curve.
//
// All types are plain values, usable from any thread. Nodes without a label are not counted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Counts how often each class is the label, the prediction, and both. Counts of parts add up to those of the whole.
struct ClassCounts {
  std::vector<int64_t> actual, predicted, correct;  // [num_classes] each

  ClassCounts() = default;
  explicit ClassCounts(int64_t num_classes);
  // Counts one node. `label` is 0 … num_classes - 1; a node with kNoLabel is ignored.
  void Add(int32_t label, int32_t prediction);
  int64_t labelled() const;
  int64_t right() const;
};

// Returns the share of labelled nodes whose prediction is their label, which is also their micro-averaged F1; NaN when
// no node is labelled.
double AccuracyOf(const ClassCounts& counts);
// Returns the unweighted mean of the classes' F1, each 2 * correct / (actual + predicted). Classes that no node has as
// its label or prediction are left out. NaN when no node is labelled.
double MacroF1(const ClassCounts& counts);

// Returns [num_classes, num_classes] row-major: nodes by label (row) and prediction (column). `classes` are the
// predictions for `nodes`, in the same order.
std::vector<int64_t> ConfusionMatrix(std::span<const int32_t> classes, std::span<const NodeId> nodes,
                                     std::span<const int32_t> labels, int64_t num_classes);

// A node whose label is class 1 (positive) or 0, with a score for class 1: the difference of the two logits, or any
// increasing function of it.
struct ScoredNode {
  float score = 0;
  bool positive = false;
};
// Returns the area under the ROC curve: the probability that a positive node scores above a negative one, ties counted
// as half (Mann and Whitney 1947). NaN when there is no positive or no negative node. Takes the list by value to sort
// it.
double RocAuc(std::vector<ScoredNode> nodes);

// Measure by which the best epoch of a run is chosen. Larger is better.
enum class Metric : uint8_t { kAccuracy, kMacroF1, kRocAuc };
std::string_view MetricName(Metric metric);  // "accuracy", "macro-f1", "auc"
// Parses what MetricName writes. kInvalidArgument lists the known names.
Result<Metric> ParseMetric(std::string_view name);

}  // namespace hone::gnn
