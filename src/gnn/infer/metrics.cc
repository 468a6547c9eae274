// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/gnn/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/text/alternatives.h"
#include "gnn/graph/targets.h"

namespace hone::gnn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

int64_t Sum(const std::vector<int64_t>& counts) { return std::accumulate(counts.begin(), counts.end(), int64_t{0}); }

}  // namespace

ClassCounts::ClassCounts(int64_t num_classes)
    : actual(static_cast<size_t>(num_classes)), predicted(actual), correct(actual) {}

void ClassCounts::Add(int32_t label, int32_t prediction) {
  if (label == kNoLabel) return;
  ++actual[static_cast<size_t>(label)];
  ++predicted[static_cast<size_t>(prediction)];
  if (label == prediction) ++correct[static_cast<size_t>(label)];
}

int64_t ClassCounts::labelled() const { return Sum(actual); }
int64_t ClassCounts::right() const { return Sum(correct); }

double AccuracyOf(const ClassCounts& counts) {
  const int64_t labelled = counts.labelled();
  return labelled == 0 ? kNaN : static_cast<double>(counts.right()) / static_cast<double>(labelled);
}

double MacroF1(const ClassCounts& counts) {
  double sum = 0;
  int64_t classes = 0;
  for (size_t c = 0; c < counts.actual.size(); ++c) {
    const int64_t actual_or_predicted = counts.actual[c] + counts.predicted[c];
    if (actual_or_predicted == 0) continue;
    sum += 2 * static_cast<double>(counts.correct[c]) / static_cast<double>(actual_or_predicted);
    ++classes;
  }
  return classes == 0 ? kNaN : sum / static_cast<double>(classes);
}

std::vector<int64_t> ConfusionMatrix(std::span<const int32_t> classes, std::span<const NodeId> nodes,
                                     std::span<const int32_t> labels, int64_t num_classes) {
  std::vector<int64_t> matrix(static_cast<size_t>(num_classes * num_classes));
  for (size_t i = 0; i < nodes.size() && !labels.empty(); ++i) {
    const int32_t label = labels[static_cast<size_t>(nodes[i])];
    if (label != kNoLabel) ++matrix[static_cast<size_t>(label * num_classes + classes[i])];
  }
  return matrix;
}

double RocAuc(std::vector<ScoredNode> nodes) {
  // NaN has no place in an order.
  if (std::any_of(nodes.begin(), nodes.end(), [](const ScoredNode& node) { return std::isnan(node.score); }))
    return kNaN;
  std::sort(nodes.begin(), nodes.end(), [](const ScoredNode& a, const ScoredNode& b) { return a.score < b.score; });
  // Counts pairs of a positive and a negative whose scores are in order, with ties as half a pair.
  double negatives_below = 0, ordered_pairs = 0;  // negatives with a lower score so far; pairs that are in order
  int64_t positives = 0;
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin;
    double tied_positives = 0, tied_negatives = 0;
    for (; end < nodes.size() && nodes[end].score == nodes[begin].score; ++end)
      ++(nodes[end].positive ? tied_positives : tied_negatives);
    ordered_pairs += tied_positives * (negatives_below + tied_negatives / 2);
    negatives_below += tied_negatives;
    positives += static_cast<int64_t>(tied_positives);
    begin = end;
  }
  const double all_pairs = static_cast<double>(positives) * negatives_below;
  return all_pairs == 0 ? kNaN : ordered_pairs / all_pairs;
}

double AveragePrecision(std::vector<ScoredNode> nodes) {
  if (std::any_of(nodes.begin(), nodes.end(), [](const ScoredNode& node) { return std::isnan(node.score); }))
    return kNaN;
  // Sums, over groups of equal scores from the highest, the precision after the group times the group's positives.
  std::sort(nodes.begin(), nodes.end(), [](const ScoredNode& a, const ScoredNode& b) { return a.score > b.score; });
  const auto positives = std::count_if(nodes.begin(), nodes.end(), [](const ScoredNode& n) { return n.positive; });
  if (positives == 0 || positives == static_cast<std::ptrdiff_t>(nodes.size())) return kNaN;
  double sum = 0, positives_so_far = 0;
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin;
    double tied_positives = 0;
    for (; end < nodes.size() && nodes[end].score == nodes[begin].score; ++end)
      tied_positives += nodes[end].positive ? 1 : 0;
    positives_so_far += tied_positives;
    sum += tied_positives * positives_so_far / static_cast<double>(end);
    begin = end;
  }
  return sum / static_cast<double>(positives);
}

TargetCounts::TargetCounts(const TargetView& targets, std::span<const double> error_scales)
    : kind(targets.kind), width(targets.width), known(static_cast<size_t>(width)) {
  if (kind == TargetKind::kValues) {
    squared.resize(known.size());
    absolute.resize(known.size());
    scales.assign(error_scales.begin(), error_scales.end());
  }
  if (kind != TargetKind::kMultiLabel) return;
  right.resize(known.size());
  labels = ClassCounts(width);
  scores.resize(known.size());
}

void TargetCounts::Add(const float* targets, const float* outputs) {
  for (size_t c = 0; c < known.size(); ++c) {
    if (std::isnan(targets[c])) continue;
    ++known[c];
    if (kind == TargetKind::kValues) {
      const double scale = scales.empty() ? 1 : scales[c];
      const double error = scale * (static_cast<double>(outputs[c]) - static_cast<double>(targets[c]));
      squared[c] += error * error;
      absolute[c] += std::fabs(error);
      continue;
    }
    const bool positive = targets[c] > 0.5f, predicted = outputs[c] > 0;
    right[c] += positive == predicted ? 1 : 0;
    labels.actual[c] += positive ? 1 : 0;
    labels.predicted[c] += predicted ? 1 : 0;
    labels.correct[c] += positive && predicted ? 1 : 0;
    scores[c].push_back({outputs[c], positive});
  }
}

TargetScores ScoresOf(TargetCounts counts) {
  TargetScores scores{kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN};
  const auto known_targets = static_cast<double>(Sum(counts.known));
  if (known_targets == 0) return scores;
  if (counts.kind == TargetKind::kValues) {
    scores.rmse = std::sqrt(std::accumulate(counts.squared.begin(), counts.squared.end(), 0.0) / known_targets);
    scores.mae = std::accumulate(counts.absolute.begin(), counts.absolute.end(), 0.0) / known_targets;
    return scores;
  }
  scores.accuracy = static_cast<double>(Sum(counts.right)) / known_targets;
  const int64_t actual_or_predicted = Sum(counts.labels.actual) + Sum(counts.labels.predicted);
  if (actual_or_predicted > 0) {
    scores.micro_f1 = 2 * static_cast<double>(Sum(counts.labels.correct)) / static_cast<double>(actual_or_predicted);
  }
  scores.macro_f1 = MacroF1(counts.labels);
  double auc = 0, precision = 0;
  int64_t columns = 0;
  for (std::vector<ScoredNode>& column : counts.scores) {
    const double area = RocAuc(column);
    if (std::isnan(area)) continue;
    auc += area;
    precision += AveragePrecision(std::move(column));
    ++columns;
  }
  if (columns > 0) {
    scores.auc = auc / static_cast<double>(columns);
    scores.average_precision = precision / static_cast<double>(columns);
  }
  return scores;
}

std::vector<ColumnScores> ScoresOfColumns(const TargetCounts& counts) {
  std::vector<ColumnScores> columns(counts.known.size(), {0, 0, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN});
  for (size_t c = 0; c < columns.size(); ++c) {
    ColumnScores& column = columns[c];
    column.known = counts.known[c];
    const auto known_targets = static_cast<double>(column.known);
    if (column.known == 0) continue;
    if (counts.kind == TargetKind::kValues) {
      column.rmse = std::sqrt(counts.squared[c] / known_targets);
      column.mae = counts.absolute[c] / known_targets;
      continue;
    }
    column.positive = counts.labels.actual[c];
    column.accuracy = static_cast<double>(counts.right[c]) / known_targets;
    const int64_t actual_or_predicted = column.positive + counts.labels.predicted[c];
    if (actual_or_predicted > 0)
      column.f1 = 2 * static_cast<double>(counts.labels.correct[c]) / static_cast<double>(actual_or_predicted);
    if (counts.scores.empty()) continue;
    column.auc = RocAuc(counts.scores[c]);
    column.average_precision = AveragePrecision(counts.scores[c]);
  }
  return columns;
}

std::string_view MetricName(Metric metric) {
  switch (metric) {
    case Metric::kAccuracy:
      return "accuracy";
    case Metric::kMacroF1:
      return "macro-f1";
    case Metric::kRocAuc:
      return "auc";
    case Metric::kMicroF1:
      return "micro-f1";
    case Metric::kAveragePrecision:
      return "average-precision";
    case Metric::kRmse:
      return "rmse";
    case Metric::kMae:
      return "mae";
    case Metric::kAuto:
      return "auto";
  }
  return "";
}

std::span<const Metric> MetricsFor(TargetKind kind) {
  static constexpr Metric kOfClasses[] = {Metric::kAccuracy, Metric::kMacroF1, Metric::kRocAuc},
                          kOfLabels[] = {Metric::kMicroF1, Metric::kMacroF1, Metric::kAccuracy, Metric::kRocAuc,
                                         Metric::kAveragePrecision},
                          kOfValues[] = {Metric::kRmse, Metric::kMae};
  switch (kind) {
    case TargetKind::kClasses:
      return kOfClasses;
    case TargetKind::kMultiLabel:
      return kOfLabels;
    case TargetKind::kValues:
      return kOfValues;
  }
  return {};
}

Result<Metric> ParseMetric(std::string_view name) {
  if (name == MetricName(Metric::kAuto)) return Metric::kAuto;
  std::string metrics_text;
  for (const TargetKind kind : kTargetKinds) {
    for (const Metric metric : MetricsFor(kind)) {
      if (name == MetricName(metric)) return metric;
    }
    metrics_text += fmt::format("; for {}: {}", TargetsInWords(kind), Alternatives(MetricsFor(kind), MetricName));
  }
  return Status::InvalidArgument(fmt::format("the metric is '{}'; use auto{}", name, metrics_text));
}

}  // namespace hone::gnn
