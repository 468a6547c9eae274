// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which rows a static cache should hold, found where the graph is: sweeps over all edges that take the host's cores
// seconds take the device milliseconds. What is computed is told in cache_ranking.h; who calls these, device_ranking.cc.
// All functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// The recurrence's arrays, [num_nodes] each.
struct InclusionOnDevice {
  double* known;
  double* drawn;                 // zero at the beginning
  unsigned long long* sent;      // scratch
  unsigned long long* received;  // scratch
  unsigned char* trains;         // zero at the beginning
};

// known = `seed` for the training nodes, 0 for others.
cudaError_t EnqueueInclusionSeeds(const InclusionOnDevice& inclusion, const int32_t* train, int64_t count, double seed,
                                  cudaStream_t stream);
// One more hop. `symmetric` as InclusionProbabilities' (cache_ranking.h).
cudaError_t EnqueueInclusionHop(const GraphOnDevice& graph, const InclusionOnDevice& inclusion, int32_t fanout,
                                double seed, bool symmetric, cudaStream_t stream);

// Draws the outermost hop of a batch and counts each row it reads, the nodes' own included, once.
//   stamps [num_nodes] zero at the beginning; no two batches may have one tag
cudaError_t EnqueueCountReads(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                              const BatchHeader* header, const int32_t* nodes, uint32_t* stamps, uint32_t* counts,
                              cudaStream_t stream);

// A node's place in the ranking: the higher score first, then the more slots, then the smaller id. Scores are not
// negative, so their bits order them.
struct RankKey {
  uint64_t score = 0;
  uint32_t slots = 0;
  uint32_t unlike_id = 0;  // ~id
};
inline constexpr int kRankDigits = 16;  // of 8 bits: 8 of the score, 4 of the slots, 4 of the id

// What is ranked: one of the two arrays.
struct ScoresOnDevice {
  const double* probabilities = nullptr;
  const uint32_t* counts = nullptr;
};

// histogram [256] is added up: how many nodes, among those whose digits above `digit` (0 is the highest) are those of
// `key`, have each value of that digit.
cudaError_t EnqueueRankHistogram(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& key, int digit,
                                 unsigned long long* histogram, cudaStream_t stream);

// Nodes that one block numbers.
inline constexpr int64_t kRankTile = 8192;
// tiles [ceil(num_nodes / kRankTile)]: how many nodes rank at or before `last`.
cudaError_t EnqueueCountRanked(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& last,
                               int32_t* tiles, cudaStream_t stream);
// Those nodes, ascending. tiles: how many come before each tile's.
cudaError_t EnqueueListRanked(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& last,
                              const int32_t* tiles, int32_t* list, cudaStream_t stream);

// sums [2] are added up: reads, and those of rows in the cache, which has places 0 … cached - 1; places null: all rows
// are on the device. Places from `cached` on are of rows that some batch has had copied, which is no hit of the cache.
cudaError_t EnqueueSumReads(const int32_t* places, int32_t cached, const uint32_t* counts, int64_t num_nodes,
                            unsigned long long* sums, cudaStream_t stream);

}  // namespace hone::gnn::cuda
