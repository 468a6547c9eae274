// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes exclusive prefix sums over tiles in one pass: a thread block adds up its tile, publishes the sum, and reads
// the sums of the tiles before it (Merrill and Garland 2016). Tiles are handed out in the order in which blocks begin,
// so a block waits only for running blocks. Sums are integers, so they do not depend on the order of waiting.
// words [tiles + 1] are zero before the kernel starts: the first word counts the tiles handed out, each other word
// belongs to a tile.
#pragma once

#include <cstdint>

#include "gnn/cuda/base/device_math.cuh"

namespace hone::gnn::cuda {

// A tile's word holds a flag and a count below 2^30: the tile's own count, or the count of all tiles up to and
// including it. Zero: not yet published.
inline constexpr uint32_t kOwnCount = 1u << 30, kCountSoFar = 2u << 30, kCountMask = (1u << 30) - 1;

// Returns the index of the thread block's tile. Every thread of the block must call it; `shared` is one word of shared
// memory.
__device__ inline int TakeTile(uint32_t* counter_words, uint32_t* shared) {
  if (threadIdx.x == 0) *shared = atomicAdd(counter_words, 1u);
  __syncthreads();
  return static_cast<int>(*shared);
}

// Returns the count of all tiles before `tile` and publishes this tile's count `own_count`. Called by one whole warp of
// the block.
__device__ inline uint32_t CountBefore(uint32_t* counter_words, int tile, uint32_t own_count) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  ++counter_words;
  if (tile > 0 && lane == 0) atomicExch(&counter_words[tile], kOwnCount | own_count);
  uint32_t count_before = 0;
  for (int from = tile - 1; from >= 0; from -= 32) {
    uint32_t word = kCountSoFar;
    if (from - lane >= 0) {
      do word = atomicAdd(&counter_words[from - lane], 0u);
      while (word == 0);
    }
    const unsigned tiles_with_prefix = __ballot_sync(kFullWarp, (word & kCountSoFar) != 0);
    uint32_t count =
        tiles_with_prefix != 0 && lane > __ffs(static_cast<int>(tiles_with_prefix)) - 1 ? 0 : word & kCountMask;
    for (int offset = 16; offset > 0; offset /= 2) count += __shfl_xor_sync(kFullWarp, count, offset);
    count_before += count;
    if (tiles_with_prefix != 0) break;
  }
  if (lane == 0) atomicExch(&counter_words[tile], kCountSoFar | (count_before + own_count));
  return count_before;
}

}  // namespace hone::gnn::cuda
