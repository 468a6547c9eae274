// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which feature rows training, or inference from samples, is likeliest to ask for: what a static cache should hold.
//
// Two answers to the same question, both for the frontier rule kAllSoFar, where every known node draws in every hop:
//
//   InclusionProbabilities  carries probabilities along the edges, hop by hop (SALIENT++'s vertex inclusion
//   probability,
//     Kaler et al. 2023, arXiv 2305.03152, for that frontier rule):
//         known_0(v)      = batch / training nodes, for those; 0 for others
//         drawn_{h+1}(v)  = drawn_h(v) + (known_h(v) - drawn_h(v)) min(1, fanout_h / degree(v))       of each slot of v
//         known_{h+1}(u)  = 1 - (1 - known_0(u)) product over slots v -> u of (1 - drawn_{h+1}(v))
//     One sweep over the edges a hop, on all threads. Exact where what leads to a node is independent (trees);
//     elsewhere an estimate.
//   CountInclusions  samples the batches of some epochs, as training will, and counts (GNNLab, Yang et al. 2022).
//
// Both give the same bits whatever the number of threads: products are sums of logarithms in fixed point.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnn/cuda/features/feature_storage.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

struct BatchShape {
  std::vector<int32_t> fanouts;  // hop 0 is next to the seeds; each at least 1
  int64_t batch = 1024;
  uint64_t seed = 0;  // of the draws that are counted
  std::span<const NodeId> seeds = {};  // distinct nodes whose batches these are; empty: the graph's training nodes
};

// [num_nodes] the probability that a batch reads the row. `symmetric`: u lists v as often as v lists u, so that each
// node can sum up its own slots; otherwise slots are walked from the other end, with the same bits and more slowly.
std::vector<double> InclusionProbabilities(const CsrView& graph, std::span<const NodeId> train, const BatchShape& shape,
                                           bool symmetric, int threads = 0);

// [num_nodes] batches of epochs 0 … epochs - 1 that read the row. kInvalidArgument for seeds or fanouts out of range.
Result<std::vector<uint32_t>> CountInclusions(const CsrView& graph, std::span<const NodeId> train,
                                              const BatchShape& shape, int epochs, int threads = 0);

// The storage.cache_rows likeliest nodes of shape's batches by `storage`'s ranking, ascending. Among equals those with more
// slots, then those with the smaller id.
Result<std::vector<NodeId>> LikeliestRows(const Graph& graph, const BatchShape& shape, const FeatureStorage& storage);

}  // namespace hone::gnn::cuda
