// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes splits from a seed, for graphs without splits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/gnn/graph.h"

namespace hone::gnn {

struct SplitFractions {
  double train = 0.6, valid = 0.2, test = 0.2;  // shares of each class; their sum is at most 1
};

struct NodeSplits {
  std::vector<NodeId> nodes[3];  // train, valid, test; ascending
};

// Makes stratified splits: each class is permuted by a key of (seed, class) and cut by the cumulative, rounded
// fractions, so that the sizes of a class's parts differ from the fractions by less than one node. Nodes without a
// label are in no part.
NodeSplits MakeStratifiedSplits(std::span<const int32_t> labels, int32_t num_classes, const SplitFractions& fractions,
                                uint64_t seed);

}  // namespace hone::gnn
