// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes predictions as comma-separated text with a heading (RFC 4180), one line for each node, which spreadsheets and
// data frames read. The first column is `node`, the node's id.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Writes the columns node, class, and, if `names` is not empty, name: the name of the class, empty where it has none.
// classes[i] belongs to nodes[i]. Both functions write to a temporary file and rename it; errors are those of
// WriteOutput. The whole text is in memory first.
Status WriteCsv(const std::string& path, std::span<const NodeId> nodes, std::span<const int32_t> classes,
                std::span<const std::string> names);
// Writes the column node and one for each heading. `values` is [nodes.size(), headings.size()], row-major; each number
// has the digits that read back as the same float.
Status WriteCsv(const std::string& path, std::span<const NodeId> nodes, std::span<const float> values,
                std::span<const std::string> headings);

// Checks what CheckOutput checks, and that an existing file that is not empty begins with the column `node`: a mistyped
// name must not overwrite an edge list.
Status CheckCsvOutput(const std::string& path);

}  // namespace hone::gnn
