// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the rows that a static cache should hold, on the device: sweeps over all edges that take the host's cores
// seconds take milliseconds here. cache_ranking.h defines what is computed; device_ranking.cc calls these functions.
// All functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// Arrays of the recurrence, [num_nodes] each.
struct InclusionOnDevice {
  double* known;
  double* drawn;                 // zero at the beginning
  unsigned long long* sent;      // scratch
  unsigned long long* received;  // scratch
  unsigned char* trains;         // zero at the beginning
};

// Sets known to `seed` for the training nodes, and to 0 for others.
cudaError_t EnqueueInclusionSeeds(const InclusionOnDevice& inclusion, const int32_t* train, int64_t count, double seed,
                                  cudaStream_t stream);
// Computes one more hop. `symmetric` as in InclusionProbabilities (cache_ranking.h).
cudaError_t EnqueueInclusionHop(const GraphOnDevice& graph, const InclusionOnDevice& inclusion, int32_t fanout,
                                double seed, bool symmetric, cudaStream_t stream);

// Draws the outermost hop of a batch and counts each row it reads once, including the rows of the batch's own nodes.
//   stamps [num_nodes] zero at the beginning; no two batches may have one tag
cudaError_t EnqueueCountReads(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                              const BatchHeader* header, const int32_t* nodes, uint32_t* stamps, uint32_t* counts,
                              cudaStream_t stream);

// A node's rank: the higher score comes first, then the one with more slots, then the smaller id. Scores are not
// negative, so their bits order them.
struct RankKey {
  uint64_t score = 0;
  uint32_t slots = 0;
  uint32_t unlike_id = 0;  // ~id
};
inline constexpr int kRankDigits = 16;  // 8-bit digits: 8 of the score, 4 of the slots, 4 of the id

// The scores to rank by: exactly one of the two arrays is set.
struct ScoresOnDevice {
  const double* probabilities = nullptr;
  const uint32_t* counts = nullptr;
};

// Adds to histogram [256] the number of nodes with each value of digit `digit` (0 is the highest), among the nodes
// whose higher digits equal those of `key`.
cudaError_t EnqueueRankHistogram(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& key, int digit,
                                 unsigned long long* histogram, cudaStream_t stream);

// Nodes that one thread block numbers.
inline constexpr int64_t kRankTile = 8192;
// Writes tiles [ceil(num_nodes / kRankTile)]: how many nodes of each tile rank at or before `last`.
cudaError_t EnqueueCountRanked(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& last,
                               int32_t* tiles, cudaStream_t stream);
// Lists those nodes, ascending. tiles: how many such nodes come before each tile.
cudaError_t EnqueueListRanked(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& last,
                              const int32_t* tiles, int32_t* list, cudaStream_t stream);

// Adds to sums [2] the reads and the reads of rows in the cache, which has places 0 … cached - 1; places null: all rows
// are on the device. A place from `cached` on belongs to a staged row, which is not a hit.
cudaError_t EnqueueSumReads(const int32_t* places, int32_t cached, const uint32_t* counts, int64_t num_nodes,
                            unsigned long long* sums, cudaStream_t stream);

}  // namespace hone::gnn::cuda
