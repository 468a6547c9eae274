// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and checks targets for multi-label classification and regression (TargetView of hone/gnn/graph.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gnn/graph/container/container_format.h"
#include "gnn/graph/convert/npy_array.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// The largest number of labels or values of a node.
inline constexpr int64_t kMostTargets = 1 << 16;

// Parses what TargetKindName writes. kInvalidArgument lists the known names.
Result<TargetKind> ParseTargetKind(std::string_view name);

inline constexpr TargetKind kTargetKinds[] = {TargetKind::kClasses, TargetKind::kMultiLabel, TargetKind::kValues};

// Returns what a graph with such targets has: "one class a node", "several labels a node (multi-label)", "values to
// predict (regression)".
std::string_view TargetsInWords(TargetKind kind);
// Returns what a number of columns counts: "classes", "labels a node", "values a node".
std::string_view ColumnsInWords(TargetKind kind);

// Returns the type of the section that holds targets of this kind, which is not kClasses.
SectionType TargetSection(TargetKind kind);

// Returns Graph::labels() of a graph with these targets: 0 for a node with a known target, else kNoLabel.
// kInvalidArgument names the first node with an infinite target, or with a label that is neither 0 nor 1.
Result<std::vector<int32_t>> LabelsOfTargets(const TargetView& targets, int threads);

// The labels or targets of a source's nodes.
struct NodeTargets {
  TargetKind kind = TargetKind::kClasses;
  std::vector<int32_t> labels;  // kClasses: as in Graph::labels(); else as LabelsOfTargets returns them
  std::vector<float> values;    // [nodes, width]; empty for kClasses
  int64_t width = 0;
};

// Reads an array of labels. `kind`: what its values are; if it is not given, an array [N] or [N, 1] has classes, and an
// array [N, C] has C labels a node. Unknown labels are NaN, or -1 in an array of signed integers; unknown values are
// NaN. kInvalidArgument names the array, the row and the remedy.
Result<NodeTargets> TargetsOfArray(const NpyArray& array, std::optional<TargetKind> kind);

// Makes NodeTargets of [N, width] values that were read from the lines of the file `name`, as TargetsOfArray does.
Result<NodeTargets> TargetsOfRows(std::vector<float> rows, int64_t width, const std::string& name,
                                  std::optional<TargetKind> kind);

struct GraphSource;  // gnn/graph/convert/graph_source.h
// Moves labels or targets that were read from `name` into the source.
void TakeTargets(NodeTargets targets, const std::string& name, GraphSource& source);

}  // namespace hone::gnn
