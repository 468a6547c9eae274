// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums the results of a step's virtual shards, with the same bits on any number of ranks.
//
// Floating-point addition is not associative, so the order must not depend on which rank holds which shard. The shards
// are the leaves of one fixed binary tree: a node of n shards splits after the largest power of two below n. A rank
// adds up the whole nodes among its own shards, and the rest is added where the ranks' nodes meet. With 8 shards on 1,
// 2, 4 or 8 ranks each rank has exactly one node to send; in general at most about 2 log2(shards).
//
// The floats (gradients) are summed by a reduce-scatter and an all-gather: rank k adds up slice k of all ranks' nodes.
// The doubles (loss, counts, running statistics) are few, so every rank receives all ranks' doubles and adds them up
// itself.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hone/gnn/communicator.h"

namespace hone::gnn {

// The shards begin … end - 1.
struct ShardRange {
  int begin = 0, end = 0;
  int size() const { return end - begin; }
  bool operator==(const ShardRange&) const = default;
};
// Returns the shards of one of `ranks` ranks. `shards` is a multiple of `ranks`.
ShardRange ShardsOfRank(int shards, int rank, int ranks);
// Returns whether the tree over `shards` shards has a node with these two children.
bool AreSiblings(int shards, ShardRange left, ShardRange right);
// Returns the fewest nodes of the tree that make up `range`, in order.
std::vector<ShardRange> TreeNodes(int shards, ShardRange range);

// Sums for one process; not thread-safe. Each step calls Begin; then, for each of this rank's shards in order, fills
// floats() and doubles() and calls EndShard; then Finish. Afterwards floats() and doubles() hold the sums over all
// shards of all ranks.
class ShardSum {
 public:
  // `ranks` is borrowed; `shards` is a multiple of its size.
  ShardSum(Communicator& ranks, int shards, size_t floats, size_t doubles);

  // Begins a step. floats() and doubles() then belong to this rank's first shard; the caller fills all of them.
  void Begin();
  std::span<float> floats() { return next_->floats; }
  std::span<double> doubles() { return next_->doubles; }
  // Ends a shard: adds its values to those of the rank's earlier shards as far as the tree allows.
  void EndShard();
  // Completes the sums. On one of the communicator's errors, the sums are undefined.
  Status Finish();

 private:
  struct Node {
    ShardRange range;
    std::vector<float> floats;
    std::vector<double> doubles;
  };
  std::unique_ptr<Node> TakeNode();  // from free_, or a new one
  // Adds up the nodes of all ranks along the tree.
  Status CombineRanks();

  Communicator& ranks_;
  const int shards_;
  const ShardRange mine_;
  const size_t float_count_, double_count_;
  int done_ = 0;                              // this rank's shards that were added in this step
  std::vector<std::unique_ptr<Node>> nodes_;  // complete nodes so far, in order
  std::vector<std::unique_ptr<Node>> free_;  // nodes to be used again
  std::unique_ptr<Node> next_;  // the node that the current shard's gradients go into
  std::vector<std::vector<std::byte>> outgoing_, incoming_;
};

}  // namespace hone::gnn
