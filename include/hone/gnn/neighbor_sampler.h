// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples multi-hop neighborhoods without replacement, exactly uniformly, as a pure function of the batch's key.
//
// The draw of one node at one hop depends on (seed, epoch, step, hop, node) and nothing else: not on the thread, the
// other nodes of the batch, their order, or the device. Randomness is Philox4x32-10 (Salmon et al. 2011) with key =
// Randomness is Philox4x32-10 (Salmon et al. 2011) with key = seed and counter = (node, step, epoch, hop | word block
// << 8 | retry << 24); word j of the stream decides slot j. Bounded integers are drawn by Lemire's method (2019) with
// rejection. Subsets of a row's CSR slots are drawn by Floyd's method (Bentley and Floyd 1987), in slot order. A row no
// longer than the fanout is copied whole, in CSR order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hone/gnn/graph.h"
#include "hone/gnn/mini_batch.h"

namespace hone::gnn {

inline constexpr int32_t kAllNeighbors = -1;
inline constexpr int32_t kMaxFanout = 1024;
inline constexpr int kMaxHops = 64;

enum class FrontierRule : uint8_t {
  kAllSoFar,  // each hop draws neighbors for every node known so far, anew (SALIENT, PyG's NeighborSampler)
  kNewOnly,   // neighbors of a node are drawn once, in the hop after it became known (PyG's NeighborLoader)
};

struct SamplerOptions {
  // The fanouts, 1 to kMaxHops of them, the first for the hop next to the seeds; each 1 … kMaxFanout or kAllNeighbors.
  std::vector<int32_t> fanouts;
  FrontierRule frontier = FrontierRule::kAllSoFar;
  // If true, the sampler is a slow reference implementation, row by row with standard containers. It draws the same
  // samples, for comparison.
  bool plain = false;
  // If true, samples have the position of each drawn edge in the graph's columns (BlockView::edges).
  bool edges = false;
};

// Not thread-safe: use one per thread (each holds a hash table that grows to the largest batch seen and never shrinks).
class NeighborSampler {
 public:
  virtual ~NeighborSampler() = default;
  // Draws the neighborhoods of `seeds` into `out`, whose previous contents are lost; on an error `out` is an empty
  // sample. Seeds are global ids. The list may be empty, and a seed that is repeated has the local id of its first
  // occurrence. The key's shard is ignored: a node draws the same neighbors in every shard of a step.
  // kInvalidArgument: a seed out of range; kResourceExhausted: more than 2^31 - 1 nodes or edges, or no memory.
  virtual Status Sample(std::span<const NodeId> seeds, const BatchKey& key, NeighborSample& out) = 0;
};

// Makes a sampler. `graph` is borrowed and must outlive it. kInvalidArgument names the fanout that is out of range.
Result<std::unique_ptr<NeighborSampler>> MakeNeighborSampler(const CsrView& graph, const SamplerOptions& options);

// Returns the seed at position i of an epoch's order: position i of a keyed Feistel permutation of [0, count). No
// shuffle buffer is needed: any position can be computed at any time, with the same result on every device. Requires 0
// <= i < count. For many positions of one epoch, src/gnn/sample/index_permutation.h prepares the keys once.
int64_t PermutedIndex(uint64_t seed, uint32_t epoch, int64_t count, int64_t i);

}  // namespace hone::gnn
