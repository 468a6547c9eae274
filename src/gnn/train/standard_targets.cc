// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements standard_targets.h.
#include "gnn/train/standard_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gnn/graph/changed_graph.h"
#include "gnn/graph/targets.h"
#include "gnn/train/train_options.h"

namespace hone::gnn {
namespace {

class StandardizedGraph final : public ChangedGraph {
 public:
  StandardizedGraph(std::shared_ptr<const Graph> graph, const TrainOptions& options) : ChangedGraph(std::move(graph)) {
    const TargetView targets = unchanged().targets();
    rows_.resize(static_cast<size_t>(targets.num_rows * targets.width));
    for (size_t i = 0; i < rows_.size(); ++i) {
      const size_t c = i % static_cast<size_t>(targets.width);
      rows_[i] = static_cast<float>((static_cast<double>(targets.rows[i]) - options.target_means[c]) /
                                    options.target_scales[c]);  // an unknown value stays NaN
    }
  }

  TargetView targets() const override {
    TargetView view = unchanged().targets();
    view.rows = rows_.data();
    return view;
  }
  int64_t resident_bytes() const override {
    return unchanged().resident_bytes() + static_cast<int64_t>(rows_.size() * sizeof(float));
  }

 private:
  std::vector<float> rows_;
};

// The known targets of a column in the training split.
struct Column {
  int64_t known_targets = 0;
  double mean = 0, deviation = 0;
};

std::vector<Column> TrainingColumns(const Graph& graph) {
  const TargetView targets = graph.targets();
  std::vector<Column> columns(static_cast<size_t>(targets.width));
  // Two passes, because values such as years have means that are large beside their deviations.
  for (const bool second : {false, true}) {
    for (const NodeId v : graph.train_nodes()) {
      for (size_t c = 0; c < columns.size(); ++c) {
        const auto value = static_cast<double>(targets.Row(v)[c]);
        if (std::isnan(value)) continue;
        columns[c].known_targets += second ? 0 : 1;
        (second ? columns[c].deviation : columns[c].mean) += second ? std::pow(value - columns[c].mean, 2) : value;
      }
    }
    for (Column& column : columns) {
      if (column.known_targets == 0) continue;
      double& sum = second ? column.deviation : column.mean;
      sum /= static_cast<double>(column.known_targets);
    }
  }
  for (Column& column : columns) column.deviation = std::sqrt(column.deviation);
  return columns;
}

// Returns "3 ('height')", or "3" if the column has no name.
std::string NumberAndName(const Graph& graph, size_t column) {
  const auto names = graph.class_names();
  return column < names.size() ? fmt::format("{} ('{}')", column, names[column]) : std::to_string(column);
}

// Returns "no label" or "no value".
std::string_view Nothing(TargetKind kind) { return kind == TargetKind::kValues ? "no value" : "no label"; }

}  // namespace

TrainOptions CompleteForGraph(TrainOptions options, const Graph& graph) {
  options = ForTargets(std::move(options), graph.targets().kind);
  if (options.pos_weight.size() == 1) {
    options.pos_weight.assign(static_cast<size_t>(graph.num_classes()), options.pos_weight.front());
  }
  if (!options.standardize) return options;
  options.target_means.clear();
  options.target_scales.clear();
  for (const Column& column : TrainingColumns(graph)) {
    options.target_means.push_back(column.mean);
    options.target_scales.push_back(column.deviation > 0 ? column.deviation : 1);
  }
  return options;
}

std::shared_ptr<const Graph> WithTrainingTargets(std::shared_ptr<const Graph> graph, const TrainOptions& options) {
  if (options.target_means.empty()) return graph;
  return std::make_shared<StandardizedGraph>(std::move(graph), options);
}

std::vector<std::string> TargetWarnings(const Graph& graph, const TrainOptions& options) {
  std::vector<std::string> warnings;
  const TargetKind kind = graph.targets().kind;
  const std::span<const NodeId> valid = graph.valid_nodes();
  const auto labelled = [&](NodeId v) { return graph.labels()[static_cast<size_t>(v)] != kNoLabel; };
  if (options.eval_every > 0 && !valid.empty() && std::none_of(valid.begin(), valid.end(), labelled)) {
    warnings.push_back(fmt::format(
        "{} of the {} validation nodes of graph '{}' is known: validation measures nothing, and no epoch is the best; "
        "give another --split, or --eval-every 0 to leave validation out",
        Nothing(kind), valid.size(), graph.name()));
  }
  if (kind == TargetKind::kClasses) return warnings;
  const std::vector<Column> columns = TrainingColumns(graph);
  std::string unknown;
  size_t without = 0;
  for (size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].known_targets > 0) continue;
    constexpr size_t kMostNamed = 5;  // columns that one message names
    if (++without <= kMostNamed) unknown += (without > 1 ? ", " : "") + NumberAndName(graph, c);
    if (without == kMostNamed + 1) unknown += ", …";
  }
  if (without > 0) {
    warnings.push_back(
        fmt::format("{} is known in the training split of graph '{}' in {} of its {} columns: {}; the model "
                    "does not learn them, and its outputs there mean nothing",
                    Nothing(kind), graph.name(), without, columns.size(), unknown));
  }
  if (kind != TargetKind::kValues || options.standardize) return warnings;
  // The bounds are generous: within them training with the default learning rate works.
  constexpr double kMost = 10, kLeast = 0.01;
  for (size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    const bool tiny = column.known_targets > 0 && column.deviation > 0 && column.deviation < kLeast;
    if (std::fabs(column.mean) <= kMost && column.deviation <= kMost && !tiny) continue;
    warnings.push_back(
        fmt::format("the values in column {} of graph '{}' have a mean of {:.4g} and a standard deviation of {:.4g} in "
                    "the training "
                    "split, which training learns slowly or not at all; --standardize trains on standardised values "
                    "and predicts in "
                    "the units of the data",
                    NumberAndName(graph, c), graph.name(), column.mean, column.deviation));
    break;
  }
  return warnings;
}

}  // namespace hone::gnn
