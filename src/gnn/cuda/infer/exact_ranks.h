// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Orders rows by how often exact inference reads them: by the number of slots that name their node. Each table that
// does not fit device memory keeps the first rows of this order there, so one order serves all tables, whatever their
// widths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

// Counts [num_nodes] the slots that name each node. `columns` are the graph's, on the device; for a symmetric graph
// (each node is named as often as it names others) they are not read. kResourceExhausted without room for the counts.
Result<std::vector<uint32_t>> CountReaders(const CsrView& graph, bool symmetric, const int32_t* columns,
                                           int64_t num_edges);

// Returns [readers] the place of each node: 0 has the most readers; among equals, and among all of 65,535 and more, ids
// ascend.
std::vector<int32_t> RanksByReaders(std::span<const uint32_t> readers);

// Returns [count] the nodes of places 0 … count - 1.
std::vector<NodeId> FirstByRank(std::span<const int32_t> ranks, int64_t count);

}  // namespace hone::gnn::cuda
