// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks feature rows by how likely training, or inference from samples, is to read them. The ranking decides which rows
// a static cache holds.
//
// There are two methods, both for the frontier rule kAllSoFar, where every known node draws in every hop:
//
//   InclusionProbabilities  carries probabilities along the edges, hop by hop (SALIENT++'s vertex inclusion
//     probability, Kaler et al. 2023, arXiv 2305.03152, for that frontier rule):
//         known_0(v)      = batch / training nodes for a training node, 0 for others
//         drawn_{h+1}(v)  = drawn_h(v) + (known_h(v) - drawn_h(v)) min(1, fanout_h / degree(v))       of each slot of v
//         known_{h+1}(u)  = 1 - (1 - known_0(u)) product over slots v -> u of (1 - drawn_{h+1}(v))
//     The work is one sweep over the edges per hop, on all threads. The result is exact if the ways to a node are
//     independent, as in trees, and otherwise an estimate.
//   CountInclusions  samples the batches of some epochs, as training will, and counts (GNNLab, Yang et al. 2022).
//
// Both give the same bits whatever the number of threads: logarithms of the products are summed in fixed point.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnn/cuda/features/feature_storage.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

struct BatchShape {
  std::vector<int32_t> fanouts;  // hop 0 is next to the seeds; each at least 1
  int64_t batch = 1024;          // seeds per batch
  uint64_t seed = 0;             // seed of the draws that CountInclusions makes
  std::span<const NodeId> seeds = {};  // distinct nodes from which batches are made; empty: the graph's training nodes
};

// Returns [num_nodes] the probability that a batch reads the row. `symmetric` says that u lists v as often as v lists
// u, so that each node can sum over its own slots. Otherwise each node adds to the nodes in its slots, which is slower
// and gives the same bits.
std::vector<double> InclusionProbabilities(const CsrView& graph, std::span<const NodeId> train, const BatchShape& shape,
                                           bool symmetric, int threads = 0);

// Returns [num_nodes] the number of batches of epochs 0 … epochs - 1 that read the row. kInvalidArgument for seeds or
// fanouts out of range.
Result<std::vector<uint32_t>> CountInclusions(const CsrView& graph, std::span<const NodeId> train,
                                              const BatchShape& shape, int epochs, int threads = 0);

// Returns the storage.cache_rows nodes that shape's batches are likeliest to read, by `storage`'s ranking, in ascending
// order. Among equally likely nodes, more slots and then the smaller id come first.
Result<std::vector<NodeId>> LikeliestRows(const Graph& graph, const BatchShape& shape, const FeatureStorage& storage);

}  // namespace hone::gnn::cuda
