// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements targets.h.
#include "gnn/graph/targets.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "gnn/graph/convert/graph_source.h"
#include "gnn/graph/parallel.h"

namespace hone::gnn {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// Returns what is wrong with a target; empty: nothing.
std::string ProblemOf(TargetKind kind, float value) {
  if (std::isnan(value)) return "";
  if (kind == TargetKind::kValues) return std::isinf(value) ? "is infinite; an unknown value is NaN" : "";
  if (value == 0 || value == 1) return "";
  return "is no label; each label of a node is 0 or 1, or NaN where it is not known. Say --labels values if these are "
         "numbers to predict (regression)";
}

Status CheckTargets(const NodeTargets& targets, const std::string& name) {
  for (size_t i = 0; i < targets.values.size(); ++i) {
    const std::string problem = ProblemOf(targets.kind, targets.values[i]);
    if (problem.empty()) continue;
    const auto width = static_cast<size_t>(targets.width);
    return Status::InvalidArgument(
        fmt::format("'{}' row {} column {}: {} {}", name, i / width, i % width, targets.values[i], problem));
  }
  return Status::Ok();
}

Result<NodeTargets> CheckAndLabel(NodeTargets targets, const std::string& name) {
  HONE_RETURN_IF_ERROR(CheckTargets(targets, name));
  const TargetView view{targets.kind, targets.values.data(),
                        static_cast<int64_t>(targets.values.size()) / targets.width, targets.width};
  HONE_ASSIGN_OR_RETURN(targets.labels, LabelsOfTargets(view, /*threads=*/1));
  return targets;
}

}  // namespace

std::string_view TargetKindName(TargetKind kind) {
  switch (kind) {
    case TargetKind::kClasses:
      return "classes";
    case TargetKind::kMultiLabel:
      return "multi-label";
    case TargetKind::kValues:
      return "values";
  }
  return "";
}

Result<TargetKind> ParseTargetKind(std::string_view name) {
  for (const TargetKind kind : kTargetKinds) {
    if (name == TargetKindName(kind)) return kind;
  }
  return Status::InvalidArgument(fmt::format("the labels are '{}'; use classes, multi-label or values", name));
}

std::string_view TargetsInWords(TargetKind kind) {
  switch (kind) {
    case TargetKind::kClasses:
      return "one class a node";
    case TargetKind::kMultiLabel:
      return "several labels a node (multi-label)";
    case TargetKind::kValues:
      return "values to predict (regression)";
  }
  return "";
}

std::string_view ColumnsInWords(TargetKind kind) {
  switch (kind) {
    case TargetKind::kClasses:
      return "classes";
    case TargetKind::kMultiLabel:
      return "labels a node";
    case TargetKind::kValues:
      return "values a node";
  }
  return "";
}

SectionType TargetSection(TargetKind kind) {
  HONE_CHECK(kind != TargetKind::kClasses, "classes are in the section labels");
  return kind == TargetKind::kValues ? SectionType::kValues : SectionType::kMultiLabels;
}

Result<std::vector<int32_t>> LabelsOfTargets(const TargetView& targets, int threads) {
  constexpr int64_t kRows = 1 << 16;
  std::vector<int32_t> labels(static_cast<size_t>(targets.num_rows));
  std::atomic<int64_t> bad{-1};
  ParallelPieces(threads, (targets.num_rows + kRows - 1) / kRows, [&](int64_t piece) {
    for (int64_t v = piece * kRows; v < std::min(targets.num_rows, (piece + 1) * kRows); ++v) {
      const float* row = targets.Row(v);
      int32_t label = kNoLabel;
      for (int64_t c = 0; c < targets.width; ++c) {
        if (std::isnan(row[c])) continue;
        label = 0;
        if (targets.kind == TargetKind::kValues ? std::isinf(row[c]) : row[c] != 0 && row[c] != 1) bad = v;
      }
      labels[static_cast<size_t>(v)] = label;
    }
  });
  if (bad >= 0) {
    return Status::InvalidArgument(
        fmt::format("node {} has a target that {}; make the container again with hone-gnn "
                    "convert",
                    bad.load(), targets.kind == TargetKind::kValues ? "is infinite" : "is neither 0 nor 1"));
  }
  return labels;
}

Result<NodeTargets> TargetsOfArray(const NpyArray& array, std::optional<TargetKind> kind) {
  const NpyHeader& h = array.header();
  const bool column = h.shape.size() == 1 || (h.shape.size() == 2 && h.shape[1] == 1);
  if (!kind) kind = h.shape.size() == 2 && !column ? TargetKind::kMultiLabel : TargetKind::kClasses;
  NodeTargets targets{.kind = *kind};
  if (*kind == TargetKind::kClasses) {
    HONE_ASSIGN_OR_RETURN(targets.labels, LabelsOfArray(array));
    return targets;
  }
  if (!(column || h.shape.size() == 2) || h.shape.back() < 1 || (h.shape.size() == 2 && h.shape[1] > kMostTargets)) {
    return Status::InvalidArgument(
        fmt::format("'{}' is {}: {} are an array {}, with 1 to {} columns", array.name(), h.Text(),
                    *kind == TargetKind::kValues ? "values" : "several labels of a node",
                    *kind == TargetKind::kValues ? "[N] or [N, K]" : "[N, C]", kMostTargets));
  }
  targets.width = column ? 1 : h.shape[1];
  HONE_ASSIGN_OR_RETURN(targets.values, array.Floats());
  if (h.fortran_order && !column) {
    const auto rows = static_cast<size_t>(h.shape[0]), columns = static_cast<size_t>(targets.width);
    std::vector<float> by_row(targets.values.size());
    for (size_t v = 0; v < rows; ++v) {
      for (size_t c = 0; c < columns; ++c) by_row[v * columns + c] = targets.values[c * rows + v];
    }
    targets.values = std::move(by_row);
  }
  if (*kind == TargetKind::kMultiLabel && h.kind == 'i') {
    for (float& value : targets.values) value = value == -1 ? kUnknown : value;
  }
  return CheckAndLabel(std::move(targets), array.name());
}

Result<NodeTargets> TargetsOfRows(std::vector<float> rows, int64_t width, const std::string& name,
                                  std::optional<TargetKind> kind) {
  if (!kind) kind = width > 1 ? TargetKind::kMultiLabel : TargetKind::kClasses;
  NodeTargets targets{.kind = *kind};
  if (*kind != TargetKind::kClasses) {
    targets.values = std::move(rows);
    targets.width = width;
    return CheckAndLabel(std::move(targets), name);
  }
  if (width > 1) {
    return Status::InvalidArgument(
        fmt::format("'{}' has {} labels in each row, and a class is one; say --labels multi-label", name, width));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const int32_t label, LabelOfFloat(rows[i], fmt::format("'{}' row {}", name, i)));
    targets.labels.push_back(label);
  }
  return targets;
}

}  // namespace hone::gnn
