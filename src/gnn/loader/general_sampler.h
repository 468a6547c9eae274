// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples by the rules that users of Python libraries know and that the engine's own models do not need: with
// replacement, by edge weights, with a separate tree for each seed, and with all edges among the nodes that were found.
//
// A node's neighbors are drawn once, in the hop after the one that found it. The draws depend on (seed, epoch, step,
// hop, node) alone, and in disjoint batches also on the tree. Uniform draws without replacement are those of
// MakeNeighborSampler, so an induced batch has the nodes of the directional batch with the same key.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnn/loader/in_edges.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

struct GeneralRules {
  // If true, a row gives `fanout` independent draws, or none if it is empty; fanout -1 takes each edge of the row once.
  bool replace = false;
  // If true, a node that several seeds reach occurs once for each of them, and a repeated seed has a tree of its own.
  bool disjoint = false;
  bool induced = false;  // true: the sample has every edge between the nodes found; not with disjoint
  // If not empty: weights in the order of the graph's rows, in proportion to which edges are drawn. Without
  // replacement, each draw is made from the edges that are left. A row that fits into the fanout is taken whole;
  // elsewhere an edge of weight 0 is never drawn.
  std::span<const double> weights;
};

// A sample with what a NeighborSample lacks, by local id and by edge. Edges are in the order of
// `nodes_and_rows.rows[0]`, which has a row for each node whose neighbors were drawn, or for each node if the sample is
// induced.
struct GeneralSample {
  NeighborSample nodes_and_rows;  // with new_only set
  std::vector<int64_t> trees;     // [nodes] position of the seed from which the node was found; empty unless disjoint
  std::vector<int64_t> edge_ids;  // [edges] position in the list of edges
};

// Not thread-safe: one per thread.
class GeneralSampler {
 public:
  virtual ~GeneralSampler() = default;
  // Draws a sample into `out`, whose previous contents are lost. `seeds` are nodes of the graph. kResourceExhausted:
  // more than 2^31 - 1 nodes or edges.
  virtual Status Sample(std::span<const NodeId> seeds, const BatchKey& key, GeneralSample& out) = 0;
};

// Makes a sampler. `graph` and the weights are borrowed. kInvalidArgument names a fanout that is out of range, or rules
// that exclude each other.
Result<std::unique_ptr<GeneralSampler>> MakeGeneralSampler(const InEdges& graph, std::vector<int32_t> fanouts,
                                                           const GeneralRules& rules);

}  // namespace hone::gnn
