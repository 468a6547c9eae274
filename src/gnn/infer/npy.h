// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Predictions out and node lists in, as NumPy .npy files (format version 1.0).
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// [values.size()] int32. Both are written aside, then renamed; errors as of WriteOutput.
Status WriteNpy(const std::string& path, std::span<const int32_t> values);
// [values.size() / columns, columns] float32, row-major.
Status WriteNpy(const std::string& path, std::span<const float> values, int64_t columns);

// CheckOutput, and that a file which is there already is an array too: a mistyped name must not cost a graph or a
// checkpoint. An empty file, a terminal or a pipe may be written to.
Status CheckNpyOutput(const std::string& path);

// A one-dimensional list of node ids, int32 or int64. kInvalidArgument names the entry that is not in [0, num_nodes).
Result<std::vector<NodeId>> ReadNodeList(const std::string& path, int64_t num_nodes);

}  // namespace hone::gnn
