// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes predictions and reads node lists as NumPy .npy files (format version 1.0).
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Writes an array [values.size()] of int32. Both functions write to a temporary file and rename it; errors are those of
// WriteOutput.
Status WriteNpy(const std::string& path, std::span<const int32_t> values);
// Writes an array [values.size() / columns, columns] of float32, row-major.
Status WriteNpy(const std::string& path, std::span<const float> values, int64_t columns);

// Checks what CheckOutput checks, and that an existing file is an array too: a mistyped name must not overwrite a graph
// or a checkpoint. An empty file, a terminal and a pipe may be written to.
Status CheckNpyOutput(const std::string& path);

// Reads a one-dimensional list of node ids, int32 or int64. kInvalidArgument names an entry that is not in [0,
// num_nodes).
Result<std::vector<NodeId>> ReadNodeList(const std::string& path, int64_t num_nodes);

}  // namespace hone::gnn
