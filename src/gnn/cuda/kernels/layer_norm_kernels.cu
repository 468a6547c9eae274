// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements layer_norm_kernels.h: one warp per row. Gradients of the parameters are sums over pieces of rows, joined
// in order (column_sums.cuh).
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/kernels/column_sums.cuh"
#include "gnn/cuda/kernels/layer_norm_kernels.h"
#include "gnn/ops/layer_norm.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = kSumBlock;

__device__ inline float WarpSum(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
  return x;
}

int RowBlocks(int32_t rows) { return (rows + kSumWarps - 1) / kSumWarps; }
__device__ inline int32_t RowOfWarp() {
  return static_cast<int32_t>(blockIdx.x) * kSumWarps + static_cast<int32_t>(threadIdx.x / 32);
}

template <typename T>
__global__ void __launch_bounds__(kBlock) LayerNormKernel(RowsOnDevice rows, LayerNormOnDevice norm, const T* x, T* y) {
  const int32_t row = RowOfWarp();
  if (row >= RowsAfter(rows.header, rows.number)) return;
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const int32_t vectors = rows.width / 8;
  const T* from = x + static_cast<int64_t>(row) * rows.width;
  const auto columns = static_cast<float>(norm.columns);
  float sum = 0;
  for (int32_t vector = lane; vector < vectors; vector += 32) {
    const Float8 v = Load8(from + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += v.v[i];  // padding is zero
  }
  const float mean = WarpSum(sum) / columns;
  float squares = 0;
  for (int32_t vector = lane; vector < vectors; vector += 32) {
    const Float8 v = Load8(from + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float d = vector * 8 + i < norm.columns ? v.v[i] - mean : 0.0f;
      squares += d * d;
    }
  }
  const float inverse = 1.0f / sqrtf(WarpSum(squares) / columns + static_cast<float>(kLayerNormEpsilon));
  if (lane == 0) {
    norm.moments[2 * row] = mean;
    norm.moments[2 * row + 1] = inverse;
  }
  for (int32_t vector = lane; vector < vectors; vector += 32) {
    Float8 v = Load8(from + vector * 8);
    const Float8 weight = Load8(norm.weight + vector * 8), bias = Load8(norm.bias + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) v.v[i] = (v.v[i] - mean) * inverse * weight.v[i] + bias.v[i];
    Store8(y + static_cast<int64_t>(row) * rows.width + vector * 8, v);
  }
}

// Sums over pieces of rows: partials [pieces, 2, width] get the gradient times the normalised row, and the gradient.
template <typename T>
__global__ void __launch_bounds__(kBlock)
    ParameterSumsKernel(RowsOnDevice rows, LayerNormOnDevice norm, const T* x, const T* grad_y, float* partials) {
  __shared__ StripSums shared;
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t first_row = static_cast<int32_t>(blockIdx.x) * kPieceRows;
  if (first_row >= count) return;
  const int32_t end_row = min(count, first_row + kPieceRows);
  const auto vector = static_cast<int32_t>(blockIdx.y * 32 + threadIdx.x % 32);
  const int64_t width = rows.width;
  Float8 products = {}, sum = {};
  if (vector * 8 < rows.width) {
    for (int32_t row = first_row + static_cast<int32_t>(threadIdx.x / 32); row < end_row; row += kSumWarps) {
      const float mean = norm.moments[2 * row], inverse = norm.moments[2 * row + 1];
      const Float8 v = Load8(x + row * width + vector * 8), g = Load8(grad_y + row * width + vector * 8);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        sum.v[i] += g.v[i];
        products.v[i] += g.v[i] * ((v.v[i] - mean) * inverse);
      }
    }
  }
  float total = 0, total_products = 0;
  JoinWarps(shared, products, sum, total_products, total);
  const auto column = static_cast<int32_t>(blockIdx.y * kStrip + threadIdx.x);
  if (column >= rows.width) return;
  float* out = partials + static_cast<int64_t>(blockIdx.x) * 2 * width + column;
  out[0] = total_products;
  out[width] = total;
}

__global__ void __launch_bounds__(kBlock)
    JoinParametersKernel(RowsOnDevice rows, const float* partials, float* grad_weight, float* grad_bias) {
  __shared__ double shared[kBlock];
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t column = JoinColumn(), lane = JoinLane();
  const int32_t pieces = column < rows.width ? (count + kPieceRows - 1) / kPieceRows : 0;
  const int64_t width = rows.width;
  double product = 0, sum = 0;
  for (int32_t p = lane; p < pieces; p += kJoinLanes) {
    product += static_cast<double>(partials[p * 2 * width + column]);
    sum += static_cast<double>(partials[(p * 2 + 1) * width + column]);
  }
  product = JoinLanes(product, shared);
  sum = JoinLanes(sum, shared);
  if (column >= rows.width || lane != 0) return;
  grad_weight[column] = static_cast<float>(product);
  grad_bias[column] = static_cast<float>(sum);
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    LayerNormBackwardKernel(RowsOnDevice rows, LayerNormOnDevice norm, const T* x, const T* grad_y, T* grad_x) {
  const int32_t row = RowOfWarp();
  if (row >= rows.padded_rows) return;
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const int32_t vectors = rows.width / 8;
  const int64_t at = static_cast<int64_t>(row) * rows.width;
  if (row >= RowsAfter(rows.header, rows.number)) {
    for (int32_t vector = lane; vector < vectors; vector += 32) Store8(grad_x + at + vector * 8, Float8{});
    return;
  }
  const float mean = norm.moments[2 * row], inverse = norm.moments[2 * row + 1];
  // Sums over the columns of g = gradient * weight: plain, and times the normalised row. Padding has weight 0.
  float total = 0, along = 0;
  for (int32_t vector = lane; vector < vectors; vector += 32) {
    const Float8 v = Load8(x + at + vector * 8), g = Load8(grad_y + at + vector * 8),
                 weight = Load8(norm.weight + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float weighed = g.v[i] * weight.v[i];
      total += weighed;
      along += weighed * ((v.v[i] - mean) * inverse);
    }
  }
  const auto columns = static_cast<float>(norm.columns);
  total = WarpSum(total) / columns;
  along = WarpSum(along) / columns;
  for (int32_t vector = lane; vector < vectors; vector += 32) {
    const Float8 v = Load8(x + at + vector * 8), weight = Load8(norm.weight + vector * 8);
    Float8 g = Load8(grad_y + at + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float normal = (v.v[i] - mean) * inverse;
      g.v[i] = vector * 8 + i < norm.columns ? inverse * (g.v[i] * weight.v[i] - total - normal * along) : 0.0f;
    }
    Store8(grad_x + at + vector * 8, g);
  }
}

template <typename T>
cudaError_t Backward(const RowsOnDevice& rows, const LayerNormOnDevice& norm, const T* x, const T* grad_y, T* grad_x,
                     float* grad_weight, float* grad_bias, float* partials, cudaStream_t stream) {
  Launch(ParameterSumsKernel<T>, SumGrid(rows.padded_rows, rows.width), kBlock, 0, stream, rows, norm, x, grad_y,
         partials);
  Launch(JoinParametersKernel, JoinBlockCount(rows.width), kBlock, 0, stream, rows, partials, grad_weight, grad_bias);
  Launch(LayerNormBackwardKernel<T>, RowBlocks(rows.padded_rows), kBlock, 0, stream, rows, norm, x, grad_y, grad_x);
  return cudaPeekAtLastError();
}

}  // namespace

cudaError_t EnqueueLayerNorm(const RowsOnDevice& rows, Element element, const LayerNormOnDevice& norm, const void* x,
                             void* y, cudaStream_t stream) {
  const auto launch = [&]<typename T>(T) {
    return Launch(LayerNormKernel<T>, RowBlocks(rows.padded_rows), kBlock, 0, stream, rows, norm,
                  static_cast<const T*>(x), static_cast<T*>(y));
  };
  return element == Element::kFloat32 ? launch(float{}) : launch(__nv_bfloat16{});
}

int64_t LayerNormPartials(int32_t padded_rows, int32_t width) { return int64_t{2} * PieceCount(padded_rows) * width; }

cudaError_t EnqueueLayerNormBackward(const RowsOnDevice& rows, Element element, const LayerNormOnDevice& norm,
                                     const void* x, const void* grad_y, void* grad_x, float* grad_weight,
                                     float* grad_bias, float* partials, cudaStream_t stream) {
  const auto launch = [&]<typename T>(T) {
    return Backward(rows, norm, static_cast<const T*>(x), static_cast<const T*>(grad_y), static_cast<T*>(grad_x),
                    grad_weight, grad_bias, partials, stream);
  };
  return element == Element::kFloat32 ? launch(float{}) : launch(__nv_bfloat16{});
}

}  // namespace hone::gnn::cuda
