// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements device_loader_kernels.h.
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/loader/device_loader_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int64_t kMostBlocks = int64_t{1} << 20;
constexpr int kRowLanes = 8;  // threads that write a row's edges

unsigned GridSize(int64_t items) {
  const int64_t blocks = (items + kBlock - 1) / kBlock;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

__global__ void CollectSizesKernel(const int32_t* hop_nodes, const int32_t* row_offsets, int hops, int32_t* sizes) {
  const auto i = static_cast<int>(threadIdx.x);
  if (i <= hops) sizes[i] = hop_nodes[i];
  if (i < hops) sizes[hops + 1 + i] = row_offsets[hop_nodes[i]];
}

__global__ void NodeIdsKernel(BatchIds batch) {
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < batch.num_nodes; i += threads) {
    batch.out_nodes[i] = batch.nodes[i];
    if (i < batch.num_seeds) batch.out_input[i] = batch.input[i];
  }
}

// Writes the edges with kRowLanes threads per row.
__global__ void EdgeIdsKernel(BatchIds batch) {
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  const auto lane = static_cast<int32_t>(threadIdx.x % kRowLanes);
  for (int64_t row = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kRowLanes; row < batch.num_rows;
       row += threads / kRowLanes) {
    const int32_t end = batch.row_offsets[row + 1];
    for (int32_t edge = batch.row_offsets[row] + lane; edge < end; edge += kRowLanes) {
      batch.out_sources[edge] = batch.columns[edge];
      batch.out_destinations[edge] = row;
      batch.out_edge_ids[edge] = batch.edge_ids[batch.places[edge]];
    }
  }
}

// Copies one unit of a row per thread.
template <typename Unit>
__global__ void GatherRowsKernel(const unsigned char* rows, int64_t stride, int64_t units, const int64_t* ids,
                                 int64_t all_units, unsigned char* out) {
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < all_units; i += threads) {
    const int64_t row = i / units;
    reinterpret_cast<Unit*>(out)[i] = reinterpret_cast<const Unit*>(rows + ids[row] * stride)[i - row * units];
  }
}

}  // namespace

cudaError_t EnqueueSizes(const int32_t* hop_nodes, const int32_t* row_offsets, int hops, int32_t* sizes,
                         cudaStream_t stream) {
  Launch(CollectSizesKernel, 1, 32, 0, stream, hop_nodes, row_offsets, hops, sizes);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueIds(const BatchIds& batch, cudaStream_t stream) {
  if (batch.num_nodes > 0) Launch(NodeIdsKernel, GridSize(batch.num_nodes), kBlock, 0, stream, batch);
  if (batch.num_rows > 0) Launch(EdgeIdsKernel, GridSize(batch.num_rows * kRowLanes), kBlock, 0, stream, batch);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueGatherRows(const void* rows, int64_t row_bytes, int64_t stride_bytes, const int64_t* ids,
                              int64_t count, void* out, cudaStream_t stream) {
  if (count == 0 || row_bytes == 0) return cudaSuccess;
  const auto gather = [&]<typename Unit>(Unit) {
    const int64_t units = row_bytes / static_cast<int64_t>(sizeof(Unit));
    Launch(GatherRowsKernel<Unit>, GridSize(count * units), kBlock, 0, stream, static_cast<const unsigned char*>(rows),
           stride_bytes, units, ids, count * units, static_cast<unsigned char*>(out));
  };
  // Chooses the widest unit at whose multiples rows begin and end.
  const uint64_t bits =
      reinterpret_cast<uintptr_t>(rows) | static_cast<uint64_t>(stride_bytes) | static_cast<uint64_t>(row_bytes);
  if (bits % 16 == 0) {
    gather(ulonglong2{});
  } else if (bits % 8 == 0) {
    gather(uint64_t{});
  } else if (bits % 4 == 0) {
    gather(uint32_t{});
  } else if (bits % 2 == 0) {
    gather(uint16_t{});
  } else {
    gather(uint8_t{});
  }
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
