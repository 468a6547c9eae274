// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts a list of (source, destination) pairs by destination, and keeps each edge's position in the list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// The in-edges of each node. Row v holds the sources of the edges that end in v, ascending; parallel edges are
// adjacent, in the order of the list.
struct InEdges {
  std::vector<int64_t> row_offsets;  // [num_nodes + 1]
  std::vector<NodeId> columns;       // [edges] sources
  std::vector<int64_t> edge_ids;     // [edges] position in the list
  bool in_order = false;             // true: the list was in this order, so that edge_ids[i] == i

  CsrView view() const { return {static_cast<int64_t>(row_offsets.size()) - 1, row_offsets, columns}; }
};

// Builds the rows, on `threads` threads. `sources` and `destinations` are of the same length. Needs 24 bytes per edge
// while it works; the result has 12 per edge. kInvalidArgument names the first edge with an end outside [0, num_nodes),
// or a num_nodes outside [0, 2^31 - 1). kResourceExhausted: no memory.
Result<InEdges> MakeInEdges(std::span<const int64_t> sources, std::span<const int64_t> destinations, int64_t num_nodes,
                            int threads);

}  // namespace hone::gnn
