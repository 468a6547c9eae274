// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements head_kernels.h: one thread per element.
#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/kernels/head_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
int Blocks(int64_t items) { return static_cast<int>((items + kBlock - 1) / kBlock); }

__device__ void PutElement(float* p, float x) { *p = x; }
__device__ void PutElement(__nv_bfloat16* p, float x) { *p = __float2bfloat16_rn(x); }

template <typename T>
__global__ void SpreadHeadsKernel(HeadSpread shape, const float* weight, T* spread) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int32_t columns = shape.heads * shape.in;
  const int32_t row = static_cast<int32_t>(at / columns), column = static_cast<int32_t>(at % columns);
  if (row >= shape.out) return;
  const int32_t head = column / shape.in;
  const int32_t of_head = shape.concatenates ? row - head * shape.head_width : row;
  float value = 0;
  if (of_head >= 0 && of_head < shape.head_width) {
    value = weight[static_cast<int64_t>(head * shape.head_width + of_head) * shape.in + column % shape.in];
    if (!shape.concatenates) value /= static_cast<float>(shape.heads);
  }
  PutElement(spread + at, value);
}

__global__ void CollectHeadsKernel(HeadSpread shape, const float* grad_spread, float* grad_weight) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int32_t row = static_cast<int32_t>(at / shape.in), column = static_cast<int32_t>(at % shape.in);
  if (row >= shape.heads * shape.head_width) return;
  const int32_t head = row / shape.head_width;
  const int32_t from = shape.concatenates ? row : row % shape.head_width;
  const float value = grad_spread[static_cast<int64_t>(from) * shape.heads * shape.in + head * shape.in + column];
  grad_weight[at] = shape.concatenates ? value : value / static_cast<float>(shape.heads);
}

}  // namespace

cudaError_t EnqueueSpreadHeads(const HeadSpread& shape, const float* weight, Element element, void* spread,
                               cudaStream_t stream) {
  const int blocks = Blocks(static_cast<int64_t>(shape.out) * shape.heads * shape.in);
  if (element == Element::kFloat32) {
    Launch(SpreadHeadsKernel<float>, blocks, kBlock, 0, stream, shape, weight, static_cast<float*>(spread));
  } else {
    Launch(SpreadHeadsKernel<__nv_bfloat16>, blocks, kBlock, 0, stream, shape, weight,
           static_cast<__nv_bfloat16*>(spread));
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueCollectHeads(const HeadSpread& shape, const float* grad_spread, float* grad_weight,
                                cudaStream_t stream) {
  const int blocks = Blocks(static_cast<int64_t>(shape.heads) * shape.head_width * shape.in);
  Launch(CollectHeadsKernel, blocks, kBlock, 0, stream, shape, grad_spread, grad_weight);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
