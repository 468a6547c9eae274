// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements few_rows_norm.h.
#include "gnn/cuda/kernels/few_rows_norm.h"

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_marks.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/kernels/running_statistics.cuh"
#include "gnn/ops/batch_norm.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kWarps = kBlock / 32;
constexpr int kEach = kFewRows / kBlock;  // rows per thread: threadIdx.x, and every kBlock-th after it

__device__ int32_t RowOf(int i) { return i * kBlock + static_cast<int32_t>(threadIdx.x); }

// Sums kCount numbers over the block's threads, in warp order; thread i gets the sum of number i. All threads must call
// it.
template <int kCount>
struct BlockSums {
  float of_warps[kWarps][kCount];
};
template <int kCount>
__device__ float SumOverBlock(BlockSums<kCount>& shared, float (&values)[kCount]) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
#pragma unroll
    for (float& value : values) value += __shfl_xor_sync(kFullWarp, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) shared.of_warps[threadIdx.x / 32][i] = values[i];
  }
  __syncthreads();
  float sum = 0;
  if (threadIdx.x < kCount) {
    for (int w = 0; w < kWarps; ++w) sum += shared.of_warps[w][threadIdx.x];
  }
  return sum;
}

__device__ Float8 InShared(const float* values) {
  Float8 out;
#pragma unroll
  for (int i = 0; i < 8; ++i) out.v[i] = values[i];
  return out;
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    NormOfFewRowsKernel(RowsOnDevice rows, const T* x, NormOnDevice norm, ColumnCoefficients out, Between between,
                        BetweenOutput output) {
  __shared__ BlockSums<8> sums, squares;
  __shared__ float means[8], scales[8], shifts[8];
  const int32_t count = RowsAfter(rows.header, rows.number);
  const auto vector = static_cast<int32_t>(blockIdx.x);
  if (count == 0) {  // no batch, or a shard without seeds in the last step
    // That step counts as a batch all the same.
    if (rows.header->valid != 0 && vector == 0 && threadIdx.x == 0) *norm.batches += 1.0f;
    return;
  }
  const int32_t vectors = rows.width / 8;
  const T* residual = static_cast<const T*>(output.residual);
  RawOf<T> raw[kEach], raw_residual[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int64_t at = (static_cast<int64_t>(RowOf(i)) * vectors + vector) * 8;
    if (RowOf(i) >= count) continue;
    raw[i] = LoadRaw(x + at);
    if (residual != nullptr) raw_residual[i] = LoadRaw(residual + at);
  }
  Float8 sum = {}, square = {};
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (RowOf(i) < count) Add8(Widen(raw[i]), sum);
  }
  const auto n = static_cast<float>(count);
  const float total = SumOverBlock(sums, sum.v);
  if (threadIdx.x < 8) means[threadIdx.x] = total / n;
  __syncthreads();
  const Float8 mean = InShared(means);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (RowOf(i) >= count) continue;
    const Float8 value = Widen(raw[i]);
#pragma unroll
    for (int k = 0; k < 8; ++k) square.v[k] += (value.v[k] - mean.v[k]) * (value.v[k] - mean.v[k]);
  }
  const float total_square = SumOverBlock(squares, square.v);
  const auto column = static_cast<int32_t>(vector * 8 + threadIdx.x);
  if (threadIdx.x < 8) {
    const double variance = static_cast<double>(total_square) / static_cast<double>(count);
    const double inverse = 1.0 / sqrt(variance + kBatchNormEpsilon);
    const auto scale = static_cast<float>(static_cast<double>(norm.weight[column]) * inverse);
    scales[threadIdx.x] = out.scale[column] = scale;
    shifts[threadIdx.x] = out.shift[column] = norm.bias[column];
    out.mean[column] = means[threadIdx.x];
    out.inverse[column] = static_cast<float>(inverse);
    if (column == 0) *norm.batches += 1.0f;
    if (count > 1) {  // one row has no variance
      const double moved = norm.linear_bias != nullptr ? static_cast<double>(norm.linear_bias[column]) : 0.0;
      UpdateRunningStatistic(norm.running_mean[column], static_cast<double>(means[threadIdx.x]) + moved);
      UpdateRunningStatistic(norm.running_variance[column], variance * count / (count - 1));
    }
  }
  __syncthreads();
  const Float8 scale = InShared(scales), shift = InShared(shifts);
  const DropoutKey mask = MaskKey(between.dropout, rows.state, rows.header);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int32_t row = RowOf(i);
    if (row >= count) return;
    Float8 y = Widen(raw[i]);
#pragma unroll
    for (int k = 0; k < 8; ++k) y.v[k] = (y.v[k] - mean.v[k]) * scale.v[k] + shift.v[k];
    const int64_t at = static_cast<int64_t>(row) * vectors + vector;
    const auto node = static_cast<uint32_t>(rows.nodes[row]);
    if (output.marks != nullptr) {
      output.marks[at] = ActivateAndMark8(between.activation, mask, node, static_cast<uint32_t>(vector), y);
    } else {
      Activate8(between.activation, nullptr, vector, y);
      Drop8(mask, node, static_cast<uint32_t>(vector), y);
    }
    if (residual != nullptr) Add8(Widen(raw_residual[i]), y);
    if (output.residual_bias != nullptr) Add8(Load8(output.residual_bias + vector * 8), y);
    Store8(static_cast<T*>(output.y) + at * 8, y);
    if (output.also != nullptr) Store8(static_cast<T*>(output.also) + row * output.also_stride + vector * 8, y);
  }
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    NormOfFewRowsBackwardKernel(RowsOnDevice rows, const T* x, ColumnCoefficients c, Between between, const T* grad_y,
                                T* grad_x, NormGradients gradients) {
  __shared__ BlockSums<16> sums;
  __shared__ float of_x[8], constants[8];
  const int32_t count = RowsAfter(rows.header, rows.number);
  const auto vector = static_cast<int32_t>(blockIdx.x);
  const int32_t vectors = rows.width / 8;
  RawOf<T> raw[kEach], raw_grad[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int64_t at = (static_cast<int64_t>(RowOf(i)) * vectors + vector) * 8;
    if (RowOf(i) >= count) continue;
    raw[i] = LoadRaw(x + at);
    raw_grad[i] = LoadRaw(grad_y + at);
  }
  const Float8 mean = Load8(c.mean + vector * 8), scale = Load8(c.scale + vector * 8),
               shift = Load8(c.shift + vector * 8);
  const DropoutKey mask = MaskKey(between.dropout, rows.state, rows.header);
  Float8 grad[kEach];
  float sum[16] = {};
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int32_t row = RowOf(i);
    if (row >= count) continue;
    grad[i] = Widen(raw_grad[i]);
    const Float8 value = Widen(raw[i]);
    Drop8(mask, static_cast<uint32_t>(rows.nodes[row]), static_cast<uint32_t>(vector), grad[i]);
    Float8 z;
#pragma unroll
    for (int k = 0; k < 8; ++k) z.v[k] = (value.v[k] - mean.v[k]) * scale.v[k] + shift.v[k];
    ActivationSlope8(between.activation, nullptr, vector, z, grad[i]);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      sum[k] += grad[i].v[k];
      sum[8 + k] += grad[i].v[k] * (value.v[k] - mean.v[k]);
    }
  }
  const float total = SumOverBlock(sums, sum);
  const float product = __shfl_down_sync(kFullWarp, total, 8);
  if (threadIdx.x < 8) {
    const auto column = static_cast<int32_t>(vector * 8 + threadIdx.x);
    const double inverse = static_cast<double>(c.inverse[column]), a = static_cast<double>(c.scale[column]);
    gradients.weight[column] = count > 0 ? static_cast<float>(static_cast<double>(product) * inverse) : 0.0f;
    gradients.bias[column] = total;
    of_x[threadIdx.x] = count > 0 ? static_cast<float>(-a * inverse * inverse * static_cast<double>(product) / count) : 0.0f;
    constants[threadIdx.x] = count > 0 ? static_cast<float>(-a * static_cast<double>(total) / count) : 0.0f;
  }
  __syncthreads();
  const Float8 b = InShared(of_x), constant = InShared(constants);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int32_t row = RowOf(i);
    if (row >= rows.padded_rows) return;
    Float8 out = {};
    if (row < count) {
      const Float8 value = Widen(raw[i]);
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        out.v[k] = grad[i].v[k] * scale.v[k] + (value.v[k] - mean.v[k]) * b.v[k] + constant.v[k];
      }
    }
    Store8(grad_x + (static_cast<int64_t>(row) * vectors + vector) * 8, out);
  }
}

}  // namespace

cudaError_t EnqueueNormOfFewRows(const RowsOnDevice& rows, Element element, const void* x, const NormOnDevice& norm,
                                 const ColumnCoefficients& coefficients, const Between& between,
                                 const BetweenOutput& output, cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(NormOfFewRowsKernel<float>, rows.width / 8, kBlock, 0, stream, rows, static_cast<const float*>(x), norm,
           coefficients, between, output);
  } else {
    Launch(NormOfFewRowsKernel<__nv_bfloat16>, rows.width / 8, kBlock, 0, stream, rows,
           static_cast<const __nv_bfloat16*>(x), norm, coefficients, between, output);
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueNormOfFewRowsBackward(const RowsOnDevice& rows, Element element, const void* x,
                                         const ColumnCoefficients& coefficients, const Between& between,
                                         const void* grad_y, void* grad_x, const NormGradients& gradients,
                                         cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(NormOfFewRowsBackwardKernel<float>, rows.width / 8, kBlock, 0, stream, rows, static_cast<const float*>(x),
           coefficients, between, static_cast<const float*>(grad_y), static_cast<float*>(grad_x), gradients);
  } else {
    Launch(NormOfFewRowsBackwardKernel<__nv_bfloat16>, rows.width / 8, kBlock, 0, stream, rows,
           static_cast<const __nv_bfloat16*>(x), coefficients, between, static_cast<const __nv_bfloat16*>(grad_y),
           static_cast<__nv_bfloat16*>(grad_x), gradients);
  }
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
