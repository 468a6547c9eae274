// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which rows exact inference reads most: those of the nodes with the most slots that name them. Each table that device
// memory does not hold whole keeps the first of this order there, so one order serves all tables, whatever their widths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

// [num_nodes] slots that name each node. `columns` are the graph's, on the device; of a graph that is symmetric (each node
// is named as often as it names others) they are not looked at. kResourceExhausted without room for the counts.
Result<std::vector<uint32_t>> CountReaders(const CsrView& graph, bool symmetric, const int32_t* columns,
                                           int64_t num_edges);

// [readers] the place of each: 0 has the most readers; among equals, and among all of 65,535 and more, ids ascend.
std::vector<int32_t> RanksByReaders(std::span<const uint32_t> readers);

// [count] the nodes of places 0 … count - 1.
std::vector<NodeId> FirstByRank(std::span<const int32_t> ranks, int64_t count);

}  // namespace hone::gnn::cuda
