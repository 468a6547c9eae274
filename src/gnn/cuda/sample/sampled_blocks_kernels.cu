// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements sampled_blocks_kernels.h.
#include "gnn/cuda/sample/sampled_blocks_kernels.h"

#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/pick_slot.cuh"
#include "gnn/cuda/base/tile_count.cuh"
#include "gnn/cuda/base/wide_draw.cuh"
#include "gnn/cuda/sample/node_table.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;

int Tiles(int64_t items) { return static_cast<int>(items < 1 ? 1 : (items + kBlock - 1) / kBlock); }

// Returns the local id of a hop's first row: the rows are the nodes from FirstRow(…) to FirstRow(…) + CountRows(…) - 1.
__device__ int32_t FirstRow(const BlockHop& hop, const int32_t* hop_nodes) {
  return hop.new_only != 0 && hop.number > 0 ? hop_nodes[hop.number - 1] : 0;
}
__device__ int32_t CountRows(const BlockHop& hop, const int32_t* hop_nodes) {
  return hop_nodes[hop.number] - FirstRow(hop, hop_nodes);
}

// Inserts the seeds into the node table, one per thread.
__global__ void InsertSeedsKernel(NodeTable table, uint32_t tag, const int32_t* seeds, int32_t count, uint32_t* entries) {
  const auto i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) entries[i] = Insert(table, tag, static_cast<uint32_t>(seeds[i]), kNewRank + static_cast<uint32_t>(i));
}

// Draws for fanouts up to kNarrowFanout, with kLanes lanes per row.
template <int kLanes>
__global__ void DrawKernel(BlocksBatch batch, BlockHop hop) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / kLanes);
  const bool active = row < CountRows(hop, batch.hop_nodes);
  const uint32_t node = active ? static_cast<uint32_t>(batch.nodes[FirstRow(hop, batch.hop_nodes) + row]) : 0;
  const int64_t begin = active ? __ldg(batch.graph.row_offsets + node) : 0;
  const int32_t degree = active ? static_cast<int32_t>(__ldg(batch.graph.row_offsets + node + 1) - begin) : 0;
  DrawKey key = batch.key;
  key.hop = static_cast<uint32_t>(hop.number);
  const int32_t slot = PickSlot<kLanes>(key, node, degree, hop.fanout, lane);
  if (!active || lane >= hop.fanout) return;
  const int32_t count = degree < hop.fanout ? degree : hop.fanout;
  const int32_t slot_index = row * hop.fanout + lane;
  const bool draws = lane < count;
  hop.entries[slot_index] =
      draws ? Insert(batch.table, batch.tag, static_cast<uint32_t>(__ldg(batch.graph.columns + begin + slot)),
                     kNewRank + static_cast<uint32_t>(slot_index))
            : kNoEntry;
  if (draws && hop.drawn != nullptr) hop.drawn[slot_index] = begin + slot;
  if (lane == 0) hop.counts[row] = count;
}

// Draws for any fanout, with one warp per row.
__global__ void WideBlockDrawKernel(BlocksBatch batch, BlockHop hop) {
  const auto warp = static_cast<int32_t>(threadIdx.x / 32);
  const int32_t row = static_cast<int32_t>(blockIdx.x * (blockDim.x / 32)) + warp;
  if (row >= CountRows(hop, batch.hop_nodes)) return;
  unsigned char* const shared = DynamicShared<unsigned char>() + static_cast<size_t>(warp) * WideDrawBytes(hop.fanout);
  DrawKey key = batch.key;
  key.hop = static_cast<uint32_t>(hop.number);
  const auto node = static_cast<uint32_t>(batch.nodes[FirstRow(hop, batch.hop_nodes) + row]);
  const DrawnRow drawn = DrawRow(batch.graph, key, node, hop.fanout, shared);
  for (auto slot = static_cast<int32_t>(threadIdx.x % 32); slot < hop.fanout; slot += 32) {
    const int32_t slot_index = row * hop.fanout + slot;
    if (slot >= drawn.count) {
      hop.entries[slot_index] = kNoEntry;
      continue;
    }
    hop.entries[slot_index] = Insert(batch.table, batch.tag, static_cast<uint32_t>(drawn.Source(batch.graph, slot)),
                                kNewRank + static_cast<uint32_t>(slot_index));
    if (hop.drawn != nullptr) {
      hop.drawn[slot_index] = drawn.begin + (drawn.chosen == nullptr ? slot : static_cast<int32_t>(drawn.chosen[slot]));
    }
  }
  if (threadIdx.x % 32 == 0) hop.counts[row] = drawn.count;
}

// The sum over the threads of the block before this thread, and over the whole block.
struct BlockSums {
  uint32_t before, all;
};
__device__ BlockSums SumOverBlock(uint32_t own, uint32_t* warp_sums) {
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  uint32_t so_far = own;
  for (int offset = 1; offset < 32; offset *= 2) {
    const uint32_t other = __shfl_up_sync(kFullWarp, so_far, static_cast<unsigned>(offset));
    if (lane >= offset) so_far += other;
  }
  if (lane == 31) warp_sums[warp] = so_far;
  __syncthreads();
  BlockSums sums{so_far - own, 0};
  for (int w = 0; w < kBlock / 32; ++w) {
    if (w < warp) sums.before += warp_sums[w];
    sums.all += warp_sums[w];
  }
  return sums;
}

// Numbers the slots that own their node, in order, with local ids from `known` on. One thread per slot; there are
// `slot_count` slots.
__device__ void NumberNew(const BlocksBatch& batch, const uint32_t* entries, int64_t slot_count, int32_t known,
                          int32_t* now_known) {
  __shared__ uint32_t warp_sums[kBlock / 32], tile_of_block, before_tile;
  const int tile = TakeTile(batch.words, &tile_of_block);
  const int64_t slot_index = static_cast<int64_t>(tile) * kBlock + threadIdx.x;
  const uint32_t entry = slot_index < slot_count ? entries[slot_index] : kNoEntry;
  bool keeps = false;
  uint32_t node = 0;
  if (entry != kNoEntry) {
    const ulonglong2 found = __ldcg(reinterpret_cast<const ulonglong2*>(&batch.table.entries[entry]));
    node = static_cast<uint32_t>(found.x);
    keeps = static_cast<uint32_t>(found.y) == kNewRank + static_cast<uint32_t>(slot_index);
  }
  const BlockSums sums = SumOverBlock(keeps ? 1 : 0, warp_sums);
  if (threadIdx.x < 32) {
    const uint32_t before = CountBefore(batch.words, tile, sums.all);
    if (threadIdx.x == 0) before_tile = before;
  }
  __syncthreads();
  if (keeps) {
    const auto id = static_cast<uint32_t>(known) + before_tile + sums.before;
    batch.nodes[id] = static_cast<int32_t>(node);
    batch.table.entries[entry].value = static_cast<unsigned long long>(~batch.tag) << 32 | id;
  }
  // The last tile has received the counts of all other tiles.
  if (tile + 1 == static_cast<int>(gridDim.x) && threadIdx.x == 0) {
    *now_known = known + static_cast<int32_t>(before_tile + sums.all);
  }
}
__global__ void __launch_bounds__(kBlock) NumberSeedsKernel(BlocksBatch batch, const uint32_t* entries, int32_t count) {
  NumberNew(batch, entries, count, 0, batch.hop_nodes);
}
__global__ void __launch_bounds__(kBlock) NumberHopKernel(BlocksBatch batch, BlockHop hop) {
  NumberNew(batch, hop.entries, static_cast<int64_t>(CountRows(hop, batch.hop_nodes)) * hop.fanout, batch.hop_nodes[hop.number],
            batch.hop_nodes + hop.number + 1);
}

// Computes row_offsets from the counts; hops that share an array continue from the earlier hops. One thread per row.
__global__ void __launch_bounds__(kBlock) OffsetsKernel(BlocksBatch batch, BlockHop hop) {
  __shared__ uint32_t warp_sums[kBlock / 32], tile_of_block, before_tile;
  const int32_t first = FirstRow(hop, batch.hop_nodes), count = CountRows(hop, batch.hop_nodes);
  const int tile = TakeTile(batch.words, &tile_of_block);
  const int32_t row = tile * kBlock + static_cast<int32_t>(threadIdx.x);
  const uint32_t own = row < count ? static_cast<uint32_t>(hop.counts[row]) : 0;
  const BlockSums sums = SumOverBlock(own, warp_sums);
  if (threadIdx.x < 32) {
    const uint32_t before = CountBefore(batch.words, tile, sums.all);
    if (threadIdx.x == 0) before_tile = before;
  }
  __syncthreads();
  if (row < count) {
    hop.row_offsets[first + row + 1] = hop.row_offsets[first] + static_cast<int32_t>(before_tile + sums.before + own);
  }
}

// Copies used slots to the compact rows. One thread per slot.
__global__ void CompactKernel(BlocksBatch batch, BlockHop hop) {
  const int64_t slot_index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto row = static_cast<int32_t>(slot_index / hop.fanout), slot = static_cast<int32_t>(slot_index % hop.fanout);
  if (row >= CountRows(hop, batch.hop_nodes) || slot >= hop.counts[row]) return;
  const int32_t at = hop.row_offsets[FirstRow(hop, batch.hop_nodes) + row] + slot;
  hop.columns[at] =
      static_cast<int32_t>(static_cast<uint32_t>(__ldcg(&batch.table.entries[hop.entries[slot_index]].value)));
  if (hop.edge_ids != nullptr) hop.edge_ids[at] = hop.drawn[slot_index];
}

cudaError_t ClearWords(const BlocksBatch& batch, int64_t items, cudaStream_t stream) {
  return cudaMemsetAsync(batch.words, 0, static_cast<size_t>(BlockWords(items)) * sizeof(uint32_t), stream);
}

}  // namespace

int64_t BlockWords(int64_t items) { return Tiles(items) + 1; }

cudaError_t EnqueueBlockSeeds(const BlocksBatch& batch, const int32_t* seeds, int32_t count, uint32_t* entries,
                              cudaStream_t stream) {
  if (const cudaError_t error = ClearWords(batch, count, stream); error != cudaSuccess) return error;
  Launch(InsertSeedsKernel, Tiles(count), kBlock, 0, stream, batch.table, batch.tag, seeds, count, entries);
  Launch(NumberSeedsKernel, Tiles(count), kBlock, 0, stream, batch, entries, count);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueBlockHop(const BlocksBatch& batch, const BlockHop& hop, cudaStream_t stream) {
  const int64_t slot_count = static_cast<int64_t>(hop.rows) * hop.fanout;
  const auto draw = [&]<int kLanes>() {
    Launch(DrawKernel<kLanes>, Tiles(static_cast<int64_t>(hop.rows) * kLanes), kBlock, 0, stream, batch, hop);
  };
  if (hop.fanout > kNarrowFanout) {
    const int warps = WideWarps(hop.fanout);
    Launch(WideBlockDrawKernel, (hop.rows + warps - 1) / warps, 32 * warps, static_cast<size_t>(warps) * WideDrawBytes(hop.fanout),
           stream, batch, hop);
  } else if (hop.fanout <= 8) {
    draw.template operator()<8>();
  } else if (hop.fanout <= 16) {
    draw.template operator()<16>();
  } else {
    draw.template operator()<32>();
  }
  if (const cudaError_t error = ClearWords(batch, slot_count, stream); error != cudaSuccess) return error;
  Launch(NumberHopKernel, Tiles(slot_count), kBlock, 0, stream, batch, hop);
  if (const cudaError_t error = ClearWords(batch, hop.rows, stream); error != cudaSuccess) return error;
  Launch(OffsetsKernel, Tiles(hop.rows), kBlock, 0, stream, batch, hop);
  Launch(CompactKernel, Tiles(slot_count), kBlock, 0, stream, batch, hop);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
