// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures predictions. Of classes: accuracy, F1, the confusion matrix, and for two classes the area under the ROC
// curve. Of several labels or values a node: TargetScores over all columns, and ColumnScores of each.
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
  int64_t labelled() const;  // nodes with a label
  int64_t right() const;     // labelled nodes whose prediction is their label
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

// Counts over the known targets of nodes (TargetView), by column. Counts and sums of parts add up to those of the
// whole.
struct TargetCounts {
  TargetKind kind = TargetKind::kClasses;
  int64_t width = 0;
  std::vector<int64_t> known;  // [width] targets that are known
  // kMultiLabel: a label is predicted if its logit is above 0, which is a probability above 1/2.
  std::vector<int64_t> right;                   // [width] known labels that are predicted rightly
  ClassCounts labels;                           // by column: true labels, predicted labels, and labels that are both
  std::vector<std::vector<ScoredNode>> scores;  // indexed by column; lists of parts are not added up
  // kValues: sums of the squares and of the absolute values of the errors, [width]
  std::vector<double> squared, absolute;
  std::vector<double> scales;  // [width] factors of errors (TrainOptions::target_scales); empty: all 1

  TargetCounts() = default;
  explicit TargetCounts(const TargetView& targets, std::span<const double> error_scales = {});
  // Counts one node: targets and outputs (logits or values), [width] each.
  void Add(const float* targets, const float* outputs);
};

// Measures of predicted targets; NaN: not measured.
struct TargetScores {
  double accuracy, micro_f1,
      macro_f1;                   // kMultiLabel: the share of known labels that are right; F1 over all labels; the
                                  // mean of the columns' F1 (columns without true or predicted labels left out)
  double auc, average_precision;  // kMultiLabel: means over the columns that have true and false labels
  double rmse, mae;               // kValues: over all known values
};
TargetScores ScoresOf(TargetCounts counts);

// Measures of one column of targets; NaN: not measured.
struct ColumnScores {
  int64_t known = 0, positive = 0;              // known targets; kMultiLabel: those of them that are true
  double accuracy, f1, auc, average_precision;  // kMultiLabel
  double rmse, mae;                             // kValues
};
// Returns the measures of each column.
std::vector<ColumnScores> ScoresOfColumns(const TargetCounts& counts);

// Returns the average precision: the sum over descending thresholds of precision times the growth of recall, as
// scikit-learn's average_precision_score. NaN when there is no positive or no negative node.
double AveragePrecision(std::vector<ScoredNode> nodes);

// Measure by which the best epoch of a run is chosen. Larger is better, but for kRmse and kMae. kAuto becomes
// kAccuracy, kMicroF1 or kRmse, as the graph's targets are.
enum class Metric : uint8_t { kAccuracy, kMacroF1, kRocAuc, kMicroF1, kAveragePrecision, kRmse, kMae, kAuto };
// Returns "accuracy", "macro-f1", "auc", "micro-f1", "average-precision", "rmse", "mae", "auto".
std::string_view MetricName(Metric metric);
constexpr bool SmallerIsBetter(Metric metric) { return metric == Metric::kRmse || metric == Metric::kMae; }
// Returns the metrics for this kind of targets; kAuto becomes the first.
std::span<const Metric> MetricsFor(TargetKind kind);
// Parses what MetricName writes. kInvalidArgument lists the known names, by targets.
Result<Metric> ParseMetric(std::string_view name);

}  // namespace hone::gnn
