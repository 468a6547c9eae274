// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds on the device the rows that a static cache should hold: sweeps over all edges that take the host's cores
// seconds take milliseconds here. cache_ranking.h defines what is computed; device_ranking.cc calls these functions.
// All functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// The arrays of InclusionProbabilities' recurrence (cache_ranking.h), [num_nodes] each.
struct InclusionOnDevice {
  double* known;
  double* drawn;                 // zero before the first hop
  unsigned long long* sent;      // scratch
  unsigned long long* received;  // scratch
  unsigned char* trains;         // 1: a training node; zero before EnqueueInclusionSeeds
};

// Sets known to `seed`, the probability batch / training nodes, for the training nodes, and to 0 for others.
cudaError_t EnqueueInclusionSeeds(const InclusionOnDevice& inclusion, const int32_t* train, int64_t count, double seed,
                                  cudaStream_t stream);
// Computes one more hop. `symmetric` is that of InclusionProbabilities (cache_ranking.h).
cudaError_t EnqueueInclusionHop(const GraphOnDevice& graph, const InclusionOnDevice& inclusion, int32_t fanout,
                                double seed, bool symmetric, cudaStream_t stream);

// Draws the outermost hop of a batch and counts each row that the batch reads once, including the rows of its own
// nodes.
//   stamps [num_nodes] tag of the latest batch that read the row; zero at the beginning; batches have different tags
cudaError_t EnqueueCountReads(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                              const BatchHeader* header, const int32_t* nodes, uint32_t* stamps, uint32_t* counts,
                              cudaStream_t stream);

// A node's sort key: the higher score comes first, then the node with more slots, then the smaller id. Scores are not
// negative, so their bits are in their order.
struct RankKey {
  uint64_t score = 0;
  uint32_t slots = 0;
  uint32_t unlike_id = 0;  // ~id, so that the smaller id has the larger key
};
inline constexpr int kRankDigits = 16;  // 8-bit digits: 8 of the score, 4 of the slots, 4 of the id

// The scores by which nodes are ranked: exactly one of the two arrays is set.
struct ScoresOnDevice {
  const double* probabilities = nullptr;
  const uint32_t* counts = nullptr;
};

// Adds to histogram [256] the number of nodes for each value of digit `digit` (0 is the highest). Only nodes whose
// higher digits equal those of `key` are counted.
cudaError_t EnqueueRankHistogram(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& key, int digit,
                                 unsigned long long* histogram, cudaStream_t stream);

// The number of nodes that one thread block handles (a tile).
inline constexpr int64_t kRankTile = 8192;
// Writes tiles [ceil(num_nodes / kRankTile)]: how many nodes of each tile rank at or before `last_key`.
cudaError_t EnqueueCountRanked(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& last_key,
                               int32_t* tiles, cudaStream_t stream);
// Writes these nodes to `list`, in ascending order. tiles [ceil(num_nodes / kRankTile)]: the number of such nodes
// before each tile.
cudaError_t EnqueueListRanked(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& last_key,
                              const int32_t* tiles, int32_t* list, cudaStream_t stream);

// Adds to sums [2] the number of reads, and the number of reads of cached rows. Cached rows have places 0 … cached - 1;
// `places` null: all rows are on the device. A place from `cached` on belongs to a staged row, which is not a hit.
cudaError_t EnqueueSumReads(const int32_t* places, int32_t cached, const uint32_t* counts, int64_t num_nodes,
                            unsigned long long* sums, cudaStream_t stream);

}  // namespace hone::gnn::cuda
