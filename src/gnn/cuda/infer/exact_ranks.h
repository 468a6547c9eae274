// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Orders nodes by how often exact inference reads their rows: by the number of slots that name the node. Each table
// that does not fit device memory keeps the first rows of this order there, so one order serves all tables, whatever
// their widths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

// Returns [num_nodes] for each node the number of slots that name it. `columns` are the graph's, on the device; for a
// symmetric graph (each node is named as often as it names others) they are not read. kResourceExhausted if the counts
// do not fit device memory.
Result<std::vector<uint32_t>> CountReaders(const CsrView& graph, bool symmetric, const int32_t* columns,
                                           int64_t num_edges);

// Returns [readers] the place of each node: place 0 has the most readers. Ids ascend among nodes with equally many
// readers, and among all nodes with 65,535 readers or more.
std::vector<int32_t> RanksByReaders(std::span<const uint32_t> readers);

// Returns [count] the nodes of places 0 … count - 1.
std::vector<NodeId> FirstByRank(std::span<const int32_t> ranks, int64_t count);

}  // namespace hone::gnn::cuda
