// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements wide_sample_kernels.h.
#include "gnn/cuda/sample/wide_sample_kernels.h"

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/base/wide_draw.cuh"

namespace hone::gnn::cuda {
namespace {

// Draws for one row per warp.
__global__ void WideDrawKernel(GraphOnDevice graph, int number, int fanout, int32_t* neighbors, int32_t* counts,
                               const RunState* state, const BatchHeader* header, const int32_t* nodes) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, number)) return;
  unsigned char* shared = DynamicShared<unsigned char>() + threadIdx.x / 32 * WideDrawBytes(fanout);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(number)};
  const DrawnRow drawn = DrawRow(graph, key, static_cast<uint32_t>(nodes[row]), fanout, shared);
  int32_t* to = neighbors + static_cast<int64_t>(row) * fanout;
  for (int32_t slot = static_cast<int32_t>(threadIdx.x % 32); slot < fanout; slot += 32) {
    to[slot] = slot < drawn.count ? drawn.Source(graph, slot) : -1;
  }
  if (threadIdx.x % 32 == 0) counts[row] = drawn.count;
}

__global__ void LargestDegreeKernel(const int64_t* row_offsets, int64_t num_nodes, int32_t* largest_degree) {
  int32_t degree_of_thread = 0;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t v = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; v < num_nodes; v += threads) {
    degree_of_thread = max(degree_of_thread, static_cast<int32_t>(row_offsets[v + 1] - row_offsets[v]));
  }
  if (degree_of_thread > 0) atomicMax(largest_degree, degree_of_thread);
}

}  // namespace

cudaError_t EnqueueWideDraw(const GraphOnDevice& graph, int number, int fanout, int32_t rows, int32_t* neighbors,
                            int32_t* counts, const RunState* state, const BatchHeader* header, const int32_t* nodes,
                            cudaStream_t stream) {
  const int warps = WideWarps(fanout);
  return Launch(WideDrawKernel, (rows + warps - 1) / warps, 32 * warps, warps * WideDrawBytes(fanout), stream, graph,
                number, fanout, neighbors, counts, state, header, nodes);
}

cudaError_t EnqueueLargestDegree(const int64_t* row_offsets, int64_t num_nodes, int32_t* largest_degree,
                                 cudaStream_t stream) {
  constexpr int kBlock = 256;
  const int64_t blocks = (num_nodes + kBlock - 1) / kBlock;
  return Launch(LargestDegreeKernel, static_cast<unsigned>(blocks < 1024 ? blocks : 1024), kBlock, 0, stream,
                row_offsets, num_nodes, largest_degree);
}

}  // namespace hone::gnn::cuda
