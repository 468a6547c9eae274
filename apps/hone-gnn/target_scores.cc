// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/target_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/standard_output.h"
#include "gnn/graph/targets.h"
#include "hone-gnn/train_flags.h"

namespace hone::gnn {
namespace {

constexpr size_t kMostShown = 40;  // most columns in the printed table; --json has all

// Returns the name of a column of targets; empty if it has none.
std::string ColumnName(const Graph& graph, size_t column) {
  const auto names = graph.class_names();
  return column < names.size() ? names[column] : std::string();
}

// Returns a number with four decimals, or "-".
std::string Share(double value) { return std::isfinite(value) ? fmt::format("{:.4f}", value) : "-"; }

}  // namespace

TargetCounts CountTargets(const Graph& graph, std::span<const NodeId> nodes, const Predictions& outputs) {
  const TargetView targets = graph.targets();
  TargetCounts counts(targets);
  for (size_t i = 0; i < nodes.size(); ++i) {
    counts.Add(targets.Row(nodes[i]), outputs.logits.data() + static_cast<int64_t>(i) * targets.width);
  }
  return counts;
}

nlohmann::json TargetScoresJson(const Graph& graph, const TargetCounts& counts) {
  const TargetScores scores = ScoresOf(counts);
  nlohmann::json columns = nlohmann::json::array();
  for (const ColumnScores& column : ScoresOfColumns(counts)) {
    nlohmann::json entry = {{"known", column.known}};
    if (const std::string name = ColumnName(graph, columns.size()); !name.empty()) entry["name"] = name;
    if (counts.kind == TargetKind::kValues) {
      entry["rmse"] = NumberOrNull(column.rmse);
      entry["mae"] = NumberOrNull(column.mae);
    } else {
      entry["positive"] = column.positive;
      entry["accuracy"] = NumberOrNull(column.accuracy);
      entry["f1"] = NumberOrNull(column.f1);
      entry["auc"] = NumberOrNull(column.auc);
      entry["average_precision"] = NumberOrNull(column.average_precision);
    }
    columns.push_back(std::move(entry));
  }
  return {{"kind", TargetKindName(counts.kind)},
          {"width", counts.width},
          {"accuracy", NumberOrNull(scores.accuracy)},
          {"micro_f1", NumberOrNull(scores.micro_f1)},
          {"macro_f1", NumberOrNull(scores.macro_f1)},
          {"auc", NumberOrNull(scores.auc)},
          {"average_precision", NumberOrNull(scores.average_precision)},
          {"rmse", NumberOrNull(scores.rmse)},
          {"mae", NumberOrNull(scores.mae)},
          {"columns", std::move(columns)}};
}

void PrintTargetScores(const Graph& graph, const TargetCounts& counts) {
  const TargetScores scores = ScoresOf(counts);
  const bool values = counts.kind == TargetKind::kValues;
  if (values) {
    hone::Print("{} value{} a node: root mean square error {}, mean absolute error {}\n", counts.width,
                counts.width == 1 ? "" : "s", MetricText(Metric::kRmse, scores.rmse),
                MetricText(Metric::kMae, scores.mae));
  } else {
    hone::Print("{} label{} a node: accuracy {}, micro-averaged F1 {}, macro-averaged F1 {}\n", counts.width,
                counts.width == 1 ? "" : "s", PercentText(scores.accuracy), PercentText(scores.micro_f1),
                PercentText(scores.macro_f1));
    if (std::isfinite(scores.auc)) {
      hone::Print("means over the labels: area under the ROC curve {:.4f}, average precision {:.4f}\n", scores.auc,
                  scores.average_precision);
    }
  }
  const std::vector<ColumnScores> columns = ScoresOfColumns(counts);
  if (columns.size() < 2) return;
  if (values) {
    hone::Print("{:>6} {:>9} {:>10} {:>10}\n", "column", "known", "rmse", "mae");
  } else {
    hone::Print("{:>6} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9}\n", "column", "known", "true", "accuracy", "F1", "AUC",
                "precision");
  }
  for (size_t c = 0; c < std::min(columns.size(), kMostShown); ++c) {
    const ColumnScores& column = columns[c];
    if (values) {
      hone::Print("{:>6} {:>9} {:>10} {:>10}", c, column.known, MetricText(Metric::kRmse, column.rmse),
                  MetricText(Metric::kMae, column.mae));
    } else {
      hone::Print("{:>6} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9}", c, column.known, column.positive,
                  PercentText(column.accuracy), PercentText(column.f1), Share(column.auc),
                  Share(column.average_precision));
    }
    const std::string name = ColumnName(graph, c);
    hone::Print("{}{}\n", name.empty() ? "" : "  ", name);
  }
  if (columns.size() > kMostShown)
    hone::Print("and {} more columns, which --json lists\n", columns.size() - kMostShown);
}

}  // namespace hone::gnn
