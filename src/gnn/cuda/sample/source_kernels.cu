// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements source_kernels.h.
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/tile_count.cuh"
#include "gnn/cuda/sample/source_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kWarps = kBlock / 32;
constexpr int kSourcesAThread = kSourceTile / kBlock;
constexpr int kChunks = 8;  // groups of 32 slots that one warp sorts at most
constexpr int kWarpOrders = 32 * kChunks;
constexpr int kBitmapWords = 8192;  // words of the bitmap in which a thread block marks slots
constexpr int kBitmapSlots = 32 * kBitmapWords;

int Blocks(int64_t items, int per_block) { return static_cast<int>((items + per_block - 1) / per_block); }

__device__ uint32_t WarpInclusive(uint32_t value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const uint32_t lower = __shfl_up_sync(kFullWarp, value, offset);
    if (lane >= offset) value += lower;
  }
  return value;
}

// Turns the counts in `first` into the places where each source's slots begin, and sets `end` to where they end.
__global__ void __launch_bounds__(kBlock) BeginningsKernel(HopOnDevice hop) {
  __shared__ uint32_t warp_sums[kWarps];
  __shared__ uint32_t tile_of_block, before_tile;
  const int tile = TakeTile(hop.prefix_sum_scratch, &tile_of_block);
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  // A warp reads whole cache lines: its lane reads source base + 32 i for each i.
  const int64_t base = static_cast<int64_t>(tile) * kSourceTile + warp * (32 * kSourcesAThread) + lane;
  uint32_t count[kSourcesAThread], before[kSourcesAThread], in_warp = 0;
#pragma unroll
  for (int i = 0; i < kSourcesAThread; ++i) {
    count[i] = base + i * 32 < hop.sources ? static_cast<uint32_t>(hop.first[base + i * 32]) : 0;
  }
#pragma unroll
  for (int i = 0; i < kSourcesAThread; ++i) {
    const uint32_t inclusive = WarpInclusive(count[i]);
    before[i] = in_warp + inclusive - count[i];
    in_warp += __shfl_sync(kFullWarp, inclusive, 31);
  }
  if (lane == 0) warp_sums[warp] = in_warp;
  __syncthreads();
  uint32_t warps_before = 0, in_tile = 0;
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) warps_before += warp_sums[w];
    in_tile += warp_sums[w];
  }
  if (warp == 0) {
    const uint32_t sum = CountBefore(hop.prefix_sum_scratch, tile, in_tile);
    if (lane == 0) before_tile = sum;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kSourcesAThread; ++i) {
    if (base + i * 32 >= hop.sources) continue;
    const uint32_t begin = before_tile + warps_before + before[i];
    hop.first[base + i * 32] = static_cast<int32_t>(begin);
    hop.end[base + i * 32] = static_cast<int32_t>(begin + count[i]);
  }
}

// Writes each slot behind its source's beginning, in arrival order. One thread per slot.
__global__ void __launch_bounds__(kBlock) PlaceKernel(HopOnDevice hop) {
  const int64_t place = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (place >= static_cast<int64_t>(hop.rows) * hop.fanout) return;
  const int32_t source = hop.columns[place];
  if (source < 0) return;
  hop.sorted_slots[hop.first[source] + static_cast<int64_t>(hop.slot_ranks[place])] = static_cast<uint32_t>(place);
}

// Sorts `count` different slots by one warp: lanes hold 32 of them at a time and write them in order.
__device__ void OrderByWarp(uint32_t* slots, int count) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  uint32_t value[kChunks], rank[kChunks];
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    rank[c] = 0;
    value[c] = c * 32 + lane < count ? slots[c * 32 + lane] : 0xffffffffu;
  }
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    if (c * 32 >= count) break;
    for (int j = 0; j < 32; ++j) {
      const uint32_t other = __shfl_sync(kFullWarp, value[c], j);
#pragma unroll
      for (int own_chunk = 0; own_chunk < kChunks; ++own_chunk) rank[own_chunk] += other < value[own_chunk] ? 1u : 0u;
    }
  }
  __syncwarp();
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    if (c * 32 + lane < count) slots[rank[c]] = value[c];
  }
}
__device__ void OrderFewByWarp(uint32_t* slots, int count) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const uint32_t value = lane < count ? slots[lane] : 0xffffffffu;
  uint32_t rank = 0;
  for (int j = 0; j < count; ++j) rank += __shfl_sync(kFullWarp, value, j) < value ? 1u : 0u;
  __syncwarp();
  if (lane < count) slots[rank] = value;
}

// Sorts the slots of a source by one thread block: marks them as bits in shared memory, for one range of kBitmapSlots
// slots after another.
__device__ void OrderByBlock(const HopOnDevice& hop, int32_t begin, int32_t end, uint32_t* bitmap, uint32_t* warp_sums) {
  constexpr int kWordsAThread = kBitmapWords / kBlock;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int64_t places = static_cast<int64_t>(hop.rows) * hop.fanout;
  uint32_t slots_before = 0;
  for (int64_t first_place = 0; first_place < places; first_place += kBitmapSlots) {
    for (int w = static_cast<int>(threadIdx.x); w < kBitmapWords; w += kBlock) bitmap[w] = 0;
    __syncthreads();
    for (int32_t i = begin + static_cast<int32_t>(threadIdx.x); i < end; i += kBlock) {
      const int64_t slot = static_cast<int64_t>(hop.sorted_slots[i]) - first_place;
      if (slot >= 0 && slot < kBitmapSlots) atomicOr(&bitmap[slot / 32], 1u << (slot % 32));
    }
    __syncthreads();
    const int first_word = static_cast<int>(threadIdx.x) * kWordsAThread;
    uint32_t count = 0;
    for (int w = 0; w < kWordsAThread; ++w) {
      count += static_cast<uint32_t>(
          __popc(bitmap[first_word + (w + lane) % kWordsAThread]));  // each lane uses another bank
    }
    const uint32_t inclusive = WarpInclusive(count);
    if (lane == 31) warp_sums[warp] = inclusive;
    __syncthreads();
    uint32_t next_slot = slots_before + inclusive - count;
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) next_slot += warp_sums[w];
      slots_before += warp_sums[w];
    }
    for (int w = 0; w < kWordsAThread; ++w) {
      for (uint32_t bits = bitmap[first_word + w]; bits != 0; bits &= bits - 1) {
        hop.ordering[begin + static_cast<int64_t>(next_slot++)] =
            static_cast<uint32_t>(first_place + (first_word + w) * 32 + __ffs(static_cast<int>(bits)) - 1);
      }
    }
    __syncthreads();
  }
  for (int32_t i = begin + static_cast<int32_t>(threadIdx.x); i < end; i += kBlock) hop.sorted_slots[i] = hop.ordering[i];
}

// Sorts 32 sources per warp; sources with more than kWarpOrders slots are left to the whole thread block.
__global__ void __launch_bounds__(kBlock) OrderKernel(HopOnDevice hop) {
  __shared__ uint32_t bitmap[kBitmapWords];
  __shared__ uint32_t warp_sums[kWarps];
  __shared__ int32_t long_ones[kBlock];
  __shared__ int32_t long_count;
  if (threadIdx.x == 0) long_count = 0;
  __syncthreads();
  const int64_t source = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  const int32_t begin = source < hop.sources ? hop.first[source] : 0;
  const int32_t end = source < hop.sources ? hop.end[source] : 0;
  if (end - begin > kWarpOrders) long_ones[atomicAdd(&long_count, 1)] = static_cast<int32_t>(source);
  for (unsigned left = __ballot_sync(kFullWarp, end - begin > 1 && end - begin <= kWarpOrders); left != 0; left &= left - 1) {
    const int lane = __ffs(static_cast<int>(left)) - 1;
    const int32_t from = __shfl_sync(kFullWarp, begin, lane), count = __shfl_sync(kFullWarp, end, lane) - from;
    if (count <= 32) {
      OrderFewByWarp(hop.sorted_slots + from, count);
    } else {
      OrderByWarp(hop.sorted_slots + from, count);
    }
  }
  __syncthreads();
  for (int32_t i = 0; i < long_count; ++i) {
    OrderByBlock(hop, hop.first[long_ones[i]], hop.end[long_ones[i]], bitmap, warp_sums);
    __syncthreads();
  }
}

}  // namespace

cudaError_t EnqueueBySource(const HopOnDevice& hop, cudaStream_t stream) {
  Launch(BeginningsKernel, Blocks(hop.sources, kSourceTile), kBlock, 0, stream, hop);
  Launch(PlaceKernel, Blocks(static_cast<int64_t>(hop.rows) * hop.fanout, kBlock), kBlock, 0, stream, hop);
  Launch(OrderKernel, Blocks(hop.sources, kBlock), kBlock, 0, stream, hop);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
