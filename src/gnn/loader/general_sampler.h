// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples by the rules that Python's users know and the engine's own models have no use for: with replacement, by edge
// weights, a tree of its own for each seed, and all edges among the nodes that were found.
//
// A node's neighbors are drawn once, in the hop after the one that found it, and depend on (seed, epoch, step, hop,
// node) alone, where trees are apart on the tree as well. Uniform draws without replacement are those of
// MakeNeighborSampler, so that an induced batch has the nodes of the directional batch of its key.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnn/loader/in_edges.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

struct GeneralRules {
  bool replace = false;   // a row gives `fanout` independent draws, and nothing where it is empty; -1 takes it whole
  bool disjoint = false;  // nodes that several seeds reach occur once for each; a repeated seed has a tree of its own
  bool induced = false;   // every edge between the nodes found is an edge of the sample; not with disjoint
  // Where not empty, edges are drawn in proportion to these, by the order of the graph's rows; without replacement one
  // after another from what is left. A row that fits into the fanout is taken whole; elsewhere an edge of weight 0 is
  // not drawn.
  std::span<const double> weights;
};

// What a NeighborSample does not hold. By local id and by edge in the order of the sample's one `rows`, which has a row
// for each node that was drawn for, or for each node where the sample is induced.
struct GeneralSample {
  NeighborSample nodes_and_rows;  // new_only
  std::vector<int64_t> trees;     // [nodes] position of the seed that the node was found from; empty unless disjoint
  std::vector<int64_t> edge_ids;  // [edges]
};

// Not thread-safe: one per thread.
class GeneralSampler {
 public:
  virtual ~GeneralSampler() = default;
  // Replaces `out`. `seeds` are nodes of the graph. kResourceExhausted: more than 2^31 - 1 nodes or edges.
  virtual Status Sample(std::span<const NodeId> seeds, const BatchKey& key, GeneralSample& out) = 0;
};

// `graph` and the weights are borrowed. kInvalidArgument names the fanout that is out of range, or rules that do not go
// together.
Result<std::unique_ptr<GeneralSampler>> MakeGeneralSampler(const InEdges& graph, std::vector<int32_t> fanouts,
                                                           const GeneralRules& rules);

}  // namespace hone::gnn
