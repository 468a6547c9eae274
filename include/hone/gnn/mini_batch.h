// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines a mini-batch: the sampled computation graph of a few seed nodes, with input features and labels.
//
// Nodes are named by local ids. The seeds are 0 … num_seeds-1 in their given order; every other node has the next
// id at its first occurrence in (hop, destination local id, slot) order. A layer's destinations are therefore always
// the first rows of its sources, and the nodes of an inner hop the first rows of an outer one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hone/gnn/graph.h"

namespace hone::gnn {

// One layer's bipartite graph: destination i receives from sources columns[row_offsets[i] … row_offsets[i+1]).
// Borrowed from a MiniBatch. Destination i and source i are the same node.
struct BlockView {
  int32_t num_dst = 0;
  int32_t num_src = 0;
  std::span<const int32_t> row_offsets;  // [num_dst + 1]; row_offsets[0] == 0
  std::span<const int32_t> columns;      // local source ids; slot order is the order of the draw
  // Position of each drawn edge in the graph's CsrView::columns, which is also its row of Graph::edge_features(). Empty
  // unless the sampler was asked for them (SamplerOptions::edges).
  std::span<const int64_t> edges;

  int64_t num_edges() const { return row_offsets.empty() ? 0 : row_offsets[static_cast<size_t>(num_dst)]; }
};

// The structure of one sample. An object can be reused: clearing keeps the memory, so sampling one batch after another
// into the same object allocates nothing once its buffers have grown.
struct NeighborSample {
  std::vector<NodeId> nodes;  // [num_nodes] global id by local id
  std::vector<int32_t>
      hop_nodes;  // [hops + 1]: number of nodes known after hop h; hop_nodes[0]: number of distinct seeds
  // The edges drawn in hop h (hop 0 is next to the seeds). With FrontierRule::kAllSoFar there is one entry per hop, and
  // entry h has hop_nodes[h] rows. With kNewOnly there is a single entry, to which each hop adds the rows of its new
  // nodes.
  struct Rows {
    std::vector<int32_t> row_offsets;
    std::vector<int32_t> columns;
    std::vector<int64_t> edges;  // as in BlockView; empty unless SamplerOptions::edges
  };
  std::vector<Rows> rows;
  bool new_only = false;  // drawn by FrontierRule::kNewOnly

  int hops() const { return static_cast<int>(hop_nodes.size()) - 1; }
  int32_t num_seeds() const { return hop_nodes.empty() ? 0 : hop_nodes[0]; }
  int32_t num_nodes() const { return static_cast<int32_t>(nodes.size()); }
  // Returns the block of layer `layer` (0 runs first, on the outermost hop; hops()-1 ends at the seeds).
  BlockView Block(int layer) const {
    const int hop = hops() - 1 - layer;
    const Rows& r = rows[new_only ? 0 : static_cast<size_t>(hop)];
    const int32_t num_dst = hop_nodes[static_cast<size_t>(hop)];
    const std::span<const int32_t> offsets = std::span(r.row_offsets).first(static_cast<size_t>(num_dst) + 1);
    const auto count = static_cast<size_t>(offsets.back());
    return {num_dst, hop_nodes[static_cast<size_t>(hop) + 1], offsets, std::span(r.columns).first(count),
            r.edges.empty() ? std::span<const int64_t>() : std::span(r.edges).first(count)};
  }
};

// Feature rows gathered for a batch, in local id order, with the graph's dtype and row stride.
struct FeatureRows {
  std::byte* rows = nullptr;  // owned by the batch's buffers; aligned to 64 bytes
  FeatureDtype dtype = FeatureDtype::kFloat32;
  int64_t num_rows = 0;
  int64_t width = 0;
  int64_t stride_bytes = 0;

  const std::byte* Row(int64_t i) const { return rows + i * stride_bytes; }
};

// Identifies a batch, and keys every random choice in it.
struct BatchKey {
  uint64_t seed = 0;   // seed of the run
  uint32_t epoch = 0;  // number of the epoch, from 0
  uint32_t step = 0;   // global step within the epoch
  uint32_t shard = 0;  // virtual shard within the step; 0 when there is one
};

struct MiniBatch {
  BatchKey key;
  int64_t index = 0;  // position in the epoch's delivery order: 0, 1, 2, …, even if the epoch began at a later step
  NeighborSample sample;
  FeatureRows features;         // [sample.num_nodes(), width]
  std::vector<int32_t> labels;  // [num_seeds]; kNoLabel where there is none
  double sample_seconds = 0;    // processor time of the thread that prepared it
  double slice_seconds = 0;     // processor time to gather its features and labels
  double transfer_seconds = 0;  // as the transfer stage reports it; 0 without one
};

}  // namespace hone::gnn
