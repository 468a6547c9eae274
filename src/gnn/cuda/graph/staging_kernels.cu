// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/pick_slot.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/base/wide_draw.cuh"
#include "gnn/cuda/graph/staging_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
// The number of blocks that keeps the bus busy (random rows: 8 blocks 42 GB/s, 32 blocks 46, 132 blocks 50) and
// occupies few of the multiprocessors.
constexpr int kCopyBlocks = 64;
// The number of blocks if the copy need not be as fast as possible, which leaves concurrent kernels more room.
constexpr int kFewBlocks = 16;
constexpr int kFillBlocks = 264;  // to fill a cache, while nothing else runs
constexpr int kLanesARow = 16;
constexpr int kInFlight = 4;  // rows that half a warp has in flight

constexpr int32_t kOnHost = -1;  // in the map of places: the row is only in host memory
constexpr int32_t kClaimed = -2;

// Returns where the row will lie once misses are copied (DrawnPlaces). Of several threads that miss the same row, one
// claims it. A thread that comes before the place is published returns ~node, and the gather looks the place up in the
// map.
__device__ int32_t PlaceOrClaim(const StagingOnDevice& staging, int32_t node) {
  const int32_t place = staging.places[node];
  if (place >= 0) return place;
  if (place != kOnHost || atomicCAS(staging.places + node, kOnHost, kClaimed) != kOnHost) return ~node;
  const int32_t at = atomicAdd(staging.count, 1);
  if (at >= staging.rows) {
    staging.places[node] = kOnHost;  // no room left
    return ~node;
  }
  staging.nodes[at] = node;
  staging.places[node] = staging.first + at;
  return staging.first + at;
}

// Draws the neighbors of a row with kLanes lanes, claims the rows that are missing, and records all places.
template <int kLanes>
__global__ void __launch_bounds__(kBlock)
    CollectMissesKernel(GraphOnDevice graph, int hop, int fanout, const RunState* state, const BatchHeader* header,
                        const int32_t* nodes, DrawnPlaces drawn) {
  const int32_t rows = RowsAfter(header, hop);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / kLanes);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool active = row < rows;
  const uint32_t node = active ? static_cast<uint32_t>(nodes[row]) : 0;
  const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
  const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
  const int32_t slot = PickSlot<kLanes>(key, node, degree, fanout, lane);
  if (!active) return;
  const bool has_slot = lane < min(degree, fanout);
  const int32_t place = has_slot ? PlaceOrClaim(graph.staging, __ldg(graph.columns + begin + slot)) : kNoPlace;
  const int32_t own_place = lane == 0 ? PlaceOrClaim(graph.staging, static_cast<int32_t>(node)) : kNoPlace;
  if (drawn.own == nullptr) return;
  if (lane == 0) drawn.own[row] = own_place;
  if (lane < fanout) drawn.slots[static_cast<int64_t>(row) * fanout + lane] = place;
}

// Collects misses for fanouts above a warp's lanes, with one warp per row.
__global__ void CollectWideMissesKernel(GraphOnDevice graph, int hop, int fanout, const RunState* state,
                                        const BatchHeader* header, const int32_t* nodes) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, hop)) return;
  unsigned char* shared = DynamicShared<unsigned char>() + threadIdx.x / 32 * WideDrawBytes(fanout);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const DrawnRow drawn = DrawRow(graph, key, static_cast<uint32_t>(nodes[row]), fanout, shared);
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  if (lane == 0) PlaceOrClaim(graph.staging, nodes[row]);
  for (int32_t slot = lane; slot < drawn.count; slot += 32) PlaceOrClaim(graph.staging, drawn.Source(graph, slot));
}

// Copies rows nodes[0 … count - 1] of `host` to the rows of `to`, by the first `blocks` blocks. Half a warp handles
// kInFlight rows at a time, 16 bytes per lane: 256 bytes are a row of 128 two-byte elements.
template <typename Count>
__device__ void CopyRows(unsigned blocks, const int32_t* nodes, Count count, int32_t parts, const void* host, void* to) {
  const int lane = static_cast<int>(threadIdx.x % kLanesARow);
  const Count groups = static_cast<Count>(blocks * (blockDim.x / kLanesARow));
  const Count group = static_cast<Count>(blockIdx.x * (blockDim.x / kLanesARow) + threadIdx.x / kLanesARow);
  for (Count first = group * kInFlight; first < count; first += groups * kInFlight) {
    for (int32_t part = lane; part < parts; part += kLanesARow) {
      uint4 values[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        if (first + i < count) {
          values[i] = __ldg(static_cast<const uint4*>(host) + static_cast<int64_t>(nodes[first + i]) * parts + part);
        }
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        if (first + i < count) static_cast<uint4*>(to)[static_cast<int64_t>(first + i) * parts + part] = values[i];
      }
    }
  }
}

__global__ void __launch_bounds__(kBlock) CopyMissesKernel(StagingOnDevice staging, int32_t few_misses) {
  const int32_t count = min(*staging.count, staging.rows);
  const unsigned blocks = count > few_misses ? gridDim.x : min(gridDim.x, static_cast<unsigned>(kFewBlocks));
  if (blockIdx.x >= blocks) return;
  auto* const to = static_cast<uint4*>(staging.cache) + static_cast<int64_t>(staging.first) * staging.row_parts;
  CopyRows(blocks, staging.nodes, count, staging.row_parts, staging.host, to);
}

__global__ void __launch_bounds__(kBlock)
    CopyRowsKernel(const int32_t* nodes, int64_t count, int32_t parts, const void* host, void* to) {
  CopyRows(gridDim.x, nodes, count, parts, host, to);
}

__global__ void PlacesKernel(const int32_t* cached, int64_t count, int32_t* places) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) places[cached[i]] = static_cast<int32_t>(i);
}

// Takes back the places of the rows that the set's previous batch has staged.
__global__ void __launch_bounds__(kBlock) ReleasePlacesKernel(StagingOnDevice staging) {
  const int32_t count = min(*staging.count, staging.rows);
  const int32_t threads = static_cast<int32_t>(gridDim.x * blockDim.x);
  for (int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += threads) {
    staging.places[staging.nodes[i]] = kOnHost;
  }
}

// Returns the number of blocks that copy `rows` rows concurrently, at most `most`.
unsigned BlocksThatCopy(int64_t rows, int max_blocks) {
  constexpr int64_t kRowsABlock = kBlock / kLanesARow * kInFlight;
  return static_cast<unsigned>(std::min<int64_t>((rows + kRowsABlock - 1) / kRowsABlock, max_blocks));
}

template <int kLanes>
void Collect(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
             const BatchHeader* header, const int32_t* nodes, const DrawnPlaces& drawn, cudaStream_t stream) {
  constexpr int kRows = kBlock / kLanes;
  Launch(CollectMissesKernel<kLanes>, (rows + kRows - 1) / kRows, kBlock, 0, stream, graph, hop, fanout, state, header,
         nodes, drawn);
}

}  // namespace

cudaError_t EnqueueCollectMisses(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                                 const BatchHeader* header, const int32_t* nodes, const DrawnPlaces& drawn,
                                 cudaStream_t stream) {
  if (graph.staging.rows == 0) return cudaSuccess;
  const cudaError_t error = cudaMemsetAsync(graph.staging.count, 0, sizeof(int32_t), stream);
  if (error != cudaSuccess) return error;
  if (fanout > kNarrowFanout) {
    const int warps = WideWarps(fanout);
    Launch(CollectWideMissesKernel, (rows + warps - 1) / warps, 32 * warps, warps * WideDrawBytes(fanout), stream, graph,
           hop, fanout, state, header, nodes);
  } else if (fanout <= 8) {
    Collect<8>(graph, hop, fanout, rows, state, header, nodes, drawn, stream);
  } else if (fanout <= 16) {
    Collect<16>(graph, hop, fanout, rows, state, header, nodes, drawn, stream);
  } else {
    Collect<32>(graph, hop, fanout, rows, state, header, nodes, drawn, stream);
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueCopyMisses(const GraphOnDevice& graph, cudaStream_t stream, int32_t few_misses) {
  if (graph.staging.rows == 0) return cudaSuccess;
  return Launch(CopyMissesKernel, BlocksThatCopy(graph.staging.rows, kCopyBlocks), kBlock, 0, stream, graph.staging,
                few_misses);
}

cudaError_t EnqueueUnstage(const GraphOnDevice& graph, cudaStream_t stream) {
  if (graph.staging.rows == 0) return cudaSuccess;
  return Launch(ReleasePlacesKernel, BlocksThatCopy(graph.staging.rows, kCopyBlocks), kBlock, 0, stream, graph.staging);
}

cudaError_t EnqueuePlaces(const int32_t* cached, int64_t count, int32_t* places, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return Launch(PlacesKernel, static_cast<unsigned>((count + kBlock - 1) / kBlock), kBlock, 0, stream, cached, count,
                places);
}

cudaError_t EnqueueCopyRows(const int32_t* cached, int64_t count, int32_t parts, const void* host, void* to,
                            cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return Launch(CopyRowsKernel, BlocksThatCopy(count, kFillBlocks), kBlock, 0, stream, cached, count, parts, host, to);
}

}  // namespace hone::gnn::cuda
