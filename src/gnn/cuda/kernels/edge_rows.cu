// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements edge_rows.h with a warp for each row, for any fanout.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/base/wide_draw.cuh"
#include "gnn/cuda/kernels/edge_rows.h"

namespace hone::gnn::cuda {
namespace {

__device__ inline float AsFloat(float x) { return x; }
__device__ inline float AsFloat(__half x) { return __half2float(x); }
__device__ inline float AsFloat(__nv_bfloat16 x) { return __bfloat162float(x); }

template <typename T>
__global__ void EdgeRowsKernel(EdgeRowsOfHop hop) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= hop.most_rows || row >= RowsAfter(hop.header, hop.number)) return;
  unsigned char* const shared = DynamicShared<unsigned char>() + threadIdx.x / 32 * WideDrawBytes(hop.fanout);
  const DrawKey key = {hop.state->seed, hop.header->step, hop.header->epoch, static_cast<uint32_t>(hop.number)};
  const DrawnRow drawn = DrawRow(hop.graph, key, static_cast<uint32_t>(hop.nodes[row]), hop.fanout, shared);
  const int32_t columns = hop.features.columns, stride = EdgeRowStride(columns);
  const T* const from = static_cast<const T*>(hop.features.rows);
  float* const to = hop.out + static_cast<int64_t>(row) * hop.fanout * stride;
  // The lanes take the elements of all slots in turn, because a row of features is often narrower than a warp.
  const int64_t elements = static_cast<int64_t>(drawn.count) * columns;
  for (int64_t i = threadIdx.x % 32; i < elements; i += 32) {
    const auto slot = static_cast<int32_t>(i / columns), c = static_cast<int32_t>(i % columns);
    const int64_t edge = drawn.begin + (drawn.chosen == nullptr ? slot : static_cast<int32_t>(drawn.chosen[slot]));
    to[static_cast<int64_t>(slot) * stride + c] = AsFloat(from[edge * hop.features.stride + c]);
  }
}

}  // namespace

cudaError_t EnqueueEdgeRows(const EdgeRowsOfHop& hop, cudaStream_t stream) {
  const int warps = WideWarps(hop.fanout);
  const dim3 grid((hop.most_rows + warps - 1) / warps), block(32 * warps);
  const size_t shared = warps * WideDrawBytes(hop.fanout);
  switch (hop.features.element) {
    case Element::kFloat32:
      return Launch(EdgeRowsKernel<float>, grid, block, shared, stream, hop);
    case Element::kFloat16:
      return Launch(EdgeRowsKernel<__half>, grid, block, shared, stream, hop);
    case Element::kBFloat16:
      return Launch(EdgeRowsKernel<__nv_bfloat16>, grid, block, shared, stream, hop);
  }
  return cudaErrorInvalidValue;
}

}  // namespace hone::gnn::cuda
