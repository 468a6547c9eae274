// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/gnn/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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
    const int64_t seen = counts.actual[c] + counts.predicted[c];
    if (seen == 0) continue;
    sum += 2 * static_cast<double>(counts.correct[c]) / static_cast<double>(seen);
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
  double below = 0, pairs = 0;  // negatives with a lower score so far; pairs that are in order
  int64_t positives = 0;
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin;
    double positive = 0, negative = 0;
    for (; end < nodes.size() && nodes[end].score == nodes[begin].score; ++end)
      ++(nodes[end].positive ? positive : negative);
    pairs += positive * (below + negative / 2);
    below += negative;
    positives += static_cast<int64_t>(positive);
    begin = end;
  }
  const double all = static_cast<double>(positives) * below;
  return all == 0 ? kNaN : pairs / all;
}

double AveragePrecision(std::vector<ScoredNode> nodes) {
  if (std::any_of(nodes.begin(), nodes.end(), [](const ScoredNode& node) { return std::isnan(node.score); }))
    return kNaN;
  std::sort(nodes.begin(), nodes.end(), [](const ScoredNode& a, const ScoredNode& b) { return a.score > b.score; });
  const auto positives = std::count_if(nodes.begin(), nodes.end(), [](const ScoredNode& n) { return n.positive; });
  if (positives == 0 || positives == static_cast<std::ptrdiff_t>(nodes.size())) return kNaN;
  double sum = 0, found = 0;
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin;
    double more = 0;
    for (; end < nodes.size() && nodes[end].score == nodes[begin].score; ++end) more += nodes[end].positive ? 1 : 0;
    found += more;
    sum += more * found / static_cast<double>(end);
    begin = end;
  }
  return sum / static_cast<double>(positives);
}

TargetCounts::TargetCounts(const TargetView& targets) : kind(targets.kind), width(targets.width) {
  if (kind != TargetKind::kMultiLabel) return;
  labels = ClassCounts(width);
  scores.resize(static_cast<size_t>(width));
}

void TargetCounts::Add(const float* targets, const float* outputs) {
  for (int64_t c = 0; c < width; ++c) {
    if (std::isnan(targets[c])) continue;
    ++known;
    if (kind == TargetKind::kValues) {
      const double error = static_cast<double>(outputs[c]) - static_cast<double>(targets[c]);
      squared += error * error;
      absolute += std::fabs(error);
      continue;
    }
    const auto at = static_cast<size_t>(c);
    const bool positive = targets[c] > 0.5f, predicted = outputs[c] > 0;
    right += positive == predicted ? 1 : 0;
    labels.actual[at] += positive ? 1 : 0;
    labels.predicted[at] += predicted ? 1 : 0;
    labels.correct[at] += positive && predicted ? 1 : 0;
    scores[at].push_back({outputs[c], positive});
  }
}

TargetScores ScoresOf(TargetCounts counts) {
  TargetScores scores{kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN};
  if (counts.known == 0) return scores;
  const auto known = static_cast<double>(counts.known);
  if (counts.kind == TargetKind::kValues) {
    scores.rmse = std::sqrt(counts.squared / known);
    scores.mae = counts.absolute / known;
    return scores;
  }
  scores.accuracy = static_cast<double>(counts.right) / known;
  int64_t both = 0, either = 0;
  for (size_t c = 0; c < counts.labels.actual.size(); ++c) {
    both += counts.labels.correct[c];
    either += counts.labels.actual[c] + counts.labels.predicted[c];
  }
  if (either > 0) scores.micro_f1 = 2 * static_cast<double>(both) / static_cast<double>(either);
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

Result<Metric> ParseMetric(std::string_view name) {
  for (const Metric metric : {Metric::kAuto, Metric::kAccuracy, Metric::kMacroF1, Metric::kRocAuc, Metric::kMicroF1,
                              Metric::kAveragePrecision, Metric::kRmse, Metric::kMae}) {
    if (name == MetricName(metric)) return metric;
  }
  return Status::InvalidArgument(
      fmt::format("the metric is '{}'; use accuracy, macro-f1, auc, micro-f1, average-precision, rmse, mae or "
                  "auto",
                  name));
}

}  // namespace hone::gnn
