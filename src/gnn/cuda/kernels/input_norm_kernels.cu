// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements input_norm_kernels.h. Sums over rows are those of column_sums.cuh; the small products of moments and
// weights are plain fp32, eight weight rows per block.
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_marks.cuh"
#include "gnn/cuda/kernels/column_sums.cuh"
#include "gnn/cuda/kernels/input_norm_kernels.h"
#include "gnn/cuda/kernels/running_statistics.cuh"
#include "gnn/ops/batch_norm.h"

namespace hone::gnn::cuda {
namespace {

using Value = __nv_bfloat16;

__global__ void __launch_bounds__(kSumBlock)
    PieceInputSumsKernel(RowsOnDevice rows, int32_t inputs, Value* x, float* partials) {
  __shared__ StripSums shared;
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t first_row = static_cast<int32_t>(blockIdx.x) * kLongPieceRows;
  const int32_t end_row = min(rows.padded_rows, first_row + kLongPieceRows);
  const int32_t vector = static_cast<int32_t>(blockIdx.y * 32 + threadIdx.x % 32);
  Float8 sum = {};
  if (vector * 8 < inputs) {
#pragma unroll 4
    for (int32_t row = first_row + static_cast<int32_t>(threadIdx.x / 32); row < end_row; row += kSumWarps) {
      Value* at = x + static_cast<int64_t>(row) * inputs + vector * 8;
      if (row < count) {
        Add8(Load8(at), sum);
      } else {
        Store8(at, Float8{});
      }
    }
  }
  if (first_row >= count) return;
  float total = 0, nothing = 0;
  JoinWarps(shared, sum, Float8{}, total, nothing);
  const int32_t column = static_cast<int32_t>(blockIdx.y * kStrip + threadIdx.x);
  if (column < inputs) partials[static_cast<int64_t>(blockIdx.x) * inputs + column] = total;
}

__global__ void __launch_bounds__(kSumBlock)
    JoinInputSumsKernel(RowsOnDevice rows, int32_t inputs, const float* partials, float* sums) {
  __shared__ double shared[kSumBlock];
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t column = JoinColumn();
  const int32_t pieces = column < inputs ? (count + kLongPieceRows - 1) / kLongPieceRows : 0;
  double sum = 0;
#pragma unroll 8
  for (int32_t p = JoinLane(); p < pieces; p += kJoinLanes) {
    sum += static_cast<double>(partials[static_cast<int64_t>(p) * inputs + column]);
  }
  sum = JoinLanes(sum, shared);
  if (column < inputs && JoinLane() == 0) sums[column] = static_cast<float>(sum);
}

// A block handles kWeightRows rows of W. kColumnLanes threads hold one column of D each. The terms of each sum are
// divided among kTermGroups threads, and kDepth terms at a time lie in shared memory.
constexpr int kWeightRows = 8;
constexpr int kColumnLanes = 128;
constexpr int kTermGroups = 4;
constexpr int kProductBlock = kColumnLanes * kTermGroups;
constexpr int kDepth = 128;
static_assert(kProductBlock / 32 == 2 * kWeightRows, "a warp for each of a row's two sums");

__global__ void __launch_bounds__(kProductBlock)
    InputCoefficientsKernel(RowsOnDevice rows, int32_t inputs, int32_t outputs, InputMoments moments,
                            const Value* weight, NormOnDevice norm, ColumnCoefficients out, float* products) {
  __shared__ __align__(16) float weights[kDepth][kWeightRows];
  __shared__ float sums[kDepth];
  __shared__ float parts[kTermGroups][kWeightRows][kColumnLanes];
  __shared__ double totals[2][kWeightRows];
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t first_row = static_cast<int32_t>(blockIdx.x) * kWeightRows;
  if (count == 0) {  // as in JoinStatisticsKernel (norm_kernels.cu)
    if (rows.header->valid != 0 && first_row == 0 && threadIdx.x == 0) *norm.batches += 1.0f;
    return;
  }
  const auto thread = static_cast<int32_t>(threadIdx.x);
  const int32_t column_lane = thread % kColumnLanes, term_group = thread / kColumnLanes;
  const float inverse_count = 1.0f / static_cast<float>(count);
  for (int32_t begin = 0; begin < inputs; begin += kColumnLanes) {
    const int32_t k = begin + column_lane;
    const float mean = k < inputs ? moments.sums[k] * inverse_count : 0.0f;
    float sum[kWeightRows] = {};
    for (int32_t first_input = 0; first_input < inputs; first_input += kDepth) {
      __syncthreads();
      for (int32_t t = thread; t < kWeightRows * kDepth; t += kProductBlock) {
        const int32_t r = t / kDepth, i = first_input + t % kDepth;
        const bool in_range = first_row + r < outputs && i < inputs;
        weights[t % kDepth][r] = in_range ? ToFloat(weight[static_cast<int64_t>(first_row + r) * inputs + i]) : 0.0f;
      }
      if (thread < kDepth) sums[thread] = first_input + thread < inputs ? moments.sums[first_input + thread] : 0.0f;
      __syncthreads();
      if (k >= inputs) continue;
      constexpr int kTogether = 16;  // loads in flight
      for (int32_t first_term = term_group; first_term < kDepth; first_term += kTogether * kTermGroups) {
        float gram[kTogether];
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {  // weights past the last are zero
          const int32_t i = min(first_input + first_term + t * kTermGroups, inputs - 1);
          gram[t] = __ldg(moments.gram + static_cast<int64_t>(i) * inputs + k);
        }
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          const int32_t i = first_term + t * kTermGroups;
          const float c = fmaf(-sums[i], mean, gram[t]);
#pragma unroll
          for (int r = 0; r < kWeightRows; ++r) sum[r] = fmaf(weights[i][r], c, sum[r]);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kWeightRows; ++r) parts[term_group][r][column_lane] = sum[r];
    __syncthreads();
    for (int32_t t = thread; t < kWeightRows * kColumnLanes; t += kProductBlock) {
      const int32_t r = t / kColumnLanes, at = t % kColumnLanes;
      if (first_row + r >= outputs || begin + at >= inputs) continue;
      products[static_cast<int64_t>(first_row + r) * inputs + begin + at] =
          parts[0][r][at] + parts[1][r][at] + parts[2][r][at] + parts[3][r][at];
    }
  }
  __syncthreads();
  const int32_t r = thread / 64, moment = thread / 32 % 2, column = first_row + r;
  double total = 0;
  if (column < outputs) {
    const float* factors = moment == 0 ? moments.sums : products + static_cast<int64_t>(column) * inputs;
    for (int32_t i = thread % 32; i < inputs; i += 32) {
      total += static_cast<double>(factors[i]) *
               static_cast<double>(ToFloat(weight[static_cast<int64_t>(column) * inputs + i]));
    }
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(kFullWarp, total, offset);
  if (thread % 32 == 0) totals[moment][r] = total;
  __syncthreads();
  if (thread % 64 != 0 || column >= outputs) return;
  const double n = count, mean = totals[0][r] / n, variance = fmax(totals[1][r], 0.0) / n;
  const double inverse = 1.0 / sqrt(variance + kBatchNormEpsilon);
  out.mean[column] = static_cast<float>(mean);
  out.inverse[column] = static_cast<float>(inverse);
  out.scale[column] = static_cast<float>(static_cast<double>(norm.weight[column]) * inverse);
  out.shift[column] = norm.bias[column];
  if (column == 0) *norm.batches += 1.0f;
  if (count < 2) return;  // one row has no variance
  const double linear_bias = norm.linear_bias != nullptr ? static_cast<double>(norm.linear_bias[column]) : 0.0;
  UpdateRunningStatistic(norm.running_mean[column], mean + linear_bias);
  UpdateRunningStatistic(norm.running_variance[column], variance * n / (n - 1));
}

// Computes EnqueueGradientBefore. kMarked: `marks` give the signs of the activation's inputs; otherwise these come from
// x.
template <bool kMarked>
__global__ void __launch_bounds__(kSumBlock, kMarked ? 4 : 2)
    GradientBeforeKernel(RowsOnDevice rows, const RowMark* marks, const Value* x, ColumnCoefficients coefficients,
                         Between between, const Value* grad_y, Value* grad, float* partials) {
  __shared__ StripSums shared;
  constexpr int kTogether = 4;
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t first_row = static_cast<int32_t>(blockIdx.x) * kLongPieceRows;
  const int32_t end_row = min(rows.padded_rows, first_row + kLongPieceRows);
  const int32_t vector = static_cast<int32_t>(blockIdx.y * 32 + threadIdx.x % 32);
  const int64_t width = rows.width;
  const DropoutKey mask = MaskKey(between.dropout, rows.state, rows.header);
  const float kept_scale = mask.threshold == 0 ? 1.0f : mask.scale;
  Float8 sum = {}, sum_grad_y = {};
  if (vector * 8 < rows.width) {
    const int32_t warp_first_row = first_row + static_cast<int32_t>(threadIdx.x / 32);
    for (int32_t from = warp_first_row; from < end_row; from += kTogether * kSumWarps) {
      RawOf<Value> raw[kTogether], raw_x[kTogether];
      RowMark mark[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int32_t row = from + i * kSumWarps;
        const int64_t at = row * width + vector * 8;
        if (row >= end_row || row >= count) continue;
        raw[i] = LoadRaw(grad_y + at);
        if (kMarked) {
          mark[i] = marks[at / 8];
        } else {
          raw_x[i] = LoadRaw(x + at);
        }
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int32_t row = from + i * kSumWarps;
        if (row >= end_row) continue;
        Float8 g = {};
        if (row < count) {
          g = Widen(raw[i]);
          Add8(g, sum_grad_y);
          if (kMarked) {
            ApplyMark8(between.activation, kept_scale, mark[i], g);
          } else {
            const Float8 mean = Load8(coefficients.mean + vector * 8), scale = Load8(coefficients.scale + vector * 8),
                         shift = Load8(coefficients.shift + vector * 8);
            Float8 z = Widen(raw_x[i]);
            Drop8(mask, static_cast<uint32_t>(rows.nodes[row]), static_cast<uint32_t>(vector), g);
#pragma unroll
            for (int k = 0; k < 8; ++k) z.v[k] = (z.v[k] - mean.v[k]) * scale.v[k] + shift.v[k];
            ActivationSlope8(between.activation, nullptr, vector, z, g);
          }
          Add8(g, sum);
        }
        Store8(grad + row * width + vector * 8, g);
      }
    }
  }
  if (first_row >= count) return;
  float total = 0, total_grad_y = 0;
  JoinWarps(shared, sum, sum_grad_y, total, total_grad_y);
  const int32_t column = static_cast<int32_t>(blockIdx.y * kStrip + threadIdx.x);
  if (column >= rows.width) return;
  float* out = partials + static_cast<int64_t>(blockIdx.x) * width + column;
  out[0] = total;
  out[gridDim.x * width] = total_grad_y;
}

// Finishes kJoinColumns columns of P per block; once their sums are joined, each column has a warp.
__global__ void __launch_bounds__(kSumBlock)
    InputGradientsKernel(RowsOnDevice rows, int32_t inputs, int32_t outputs, InputMoments moments, const Value* weight,
                         const float* products, ColumnCoefficients c, const float* partials, int32_t most_pieces,
                         InputGradients gradients) {
  __shared__ double shared[kSumBlock];
  __shared__ double sums[kJoinColumns];
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t pieces = min((count + kLongPieceRows - 1) / kLongPieceRows, most_pieces);
  const auto join = [&](const float* of_pieces) {
    double sum = 0;
    if (JoinColumn() < outputs) {
#pragma unroll 8
      for (int32_t p = JoinLane(); p < pieces; p += kJoinLanes) {
        sum += static_cast<double>(of_pieces[static_cast<int64_t>(p) * outputs + JoinColumn()]);
      }
    }
    return JoinLanes(sum, shared);
  };
  const double joined = join(partials);
  if (JoinLane() == 0) sums[threadIdx.x] = joined;
  if (gradients.residual_bias != nullptr) {
    const int64_t padded_pieces = (rows.padded_rows + kLongPieceRows - 1) / kLongPieceRows;
    const double sum_grad_y = join(partials + padded_pieces * outputs);
    if (JoinLane() == 0 && JoinColumn() < outputs)
      gradients.residual_bias[JoinColumn()] = static_cast<float>(sum_grad_y);
  }
  __syncthreads();
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const auto column = static_cast<int32_t>(blockIdx.x * kJoinColumns + threadIdx.x / 32);
  if (column >= outputs) return;
  float* m = gradients.weight + static_cast<int64_t>(column) * inputs;
  if (count == 0) {  // an empty batch has zero gradients
    for (int32_t k = lane; k < inputs; k += 32) m[k] = 0;
    if (lane == 0) gradients.norm_weight[column] = gradients.norm_bias[column] = 0;
    return;
  }
  const double y = sums[threadIdx.x / 32], n = count;
  const auto y_over_n = static_cast<float>(y / n);
  const Value* w = weight + static_cast<int64_t>(column) * inputs;
  const float* d = products + static_cast<int64_t>(column) * inputs;
  double product = 0;
  for (int32_t k = lane; k < inputs; k += 32) {
    product += static_cast<double>(fmaf(-y_over_n, moments.sums[k], m[k])) * static_cast<double>(ToFloat(w[k]));
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) product += __shfl_xor_sync(kFullWarp, product, offset);
  const double inverse = static_cast<double>(c.inverse[column]), scale = static_cast<double>(c.scale[column]);
  const auto a = static_cast<float>(scale), b = static_cast<float>(-scale * inverse * inverse * product / n);
  const auto constant = static_cast<float>(-scale * y / n);
  for (int32_t k = lane; k < inputs; k += 32) m[k] = fmaf(a, m[k], fmaf(b, d[k], constant * moments.sums[k]));
  if (lane == 0) {
    gradients.norm_weight[column] = static_cast<float>(product * inverse);
    gradients.norm_bias[column] = static_cast<float>(y);
  }
}

}  // namespace

cudaError_t EnqueueInputSums(const RowsOnDevice& rows, int32_t inputs, void* x, float* sums, float* partials,
                             cudaStream_t stream) {
  Launch(PieceInputSumsKernel, SumGrid(rows.padded_rows, inputs, kLongPieceRows), kSumBlock, 0, stream, rows, inputs,
         static_cast<Value*>(x), partials);
  Launch(JoinInputSumsKernel, JoinBlockCount(inputs), kSumBlock, 0, stream, rows, inputs, partials, sums);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueInputCoefficients(const RowsOnDevice& rows, int32_t inputs, int32_t outputs,
                                     const InputMoments& moments, const void* weight, const NormOnDevice& norm,
                                     const ColumnCoefficients& coefficients, float* products, cudaStream_t stream) {
  Launch(InputCoefficientsKernel, (outputs + kWeightRows - 1) / kWeightRows, kProductBlock, 0, stream, rows, inputs,
         outputs, moments, static_cast<const Value*>(weight), norm, coefficients, products);
  return cudaPeekAtLastError();
}

int64_t GradientPartials(int32_t padded_rows, int32_t outputs) {
  return int64_t{2} * PieceCount(padded_rows, kLongPieceRows) * outputs;
}

cudaError_t EnqueueGradientBefore(const RowsOnDevice& rows, const uint16_t* marks, const void* x,
                                  const ColumnCoefficients& coefficients, const Between& between, const void* grad_y,
                                  void* grad, float* partials, cudaStream_t stream) {
  Launch(marks != nullptr ? GradientBeforeKernel<true> : GradientBeforeKernel<false>,
         SumGrid(rows.padded_rows, rows.width, kLongPieceRows), kSumBlock, 0, stream, rows, marks,
         static_cast<const Value*>(x), coefficients, between, static_cast<const Value*>(grad_y),
         static_cast<Value*>(grad), partials);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueInputGradients(const RowsOnDevice& rows, int32_t inputs, int32_t outputs,
                                  const InputMoments& moments, const void* weight, const float* products,
                                  const ColumnCoefficients& coefficients, const float* partials, int32_t most_pieces,
                                  const InputGradients& gradients, cudaStream_t stream) {
  Launch(InputGradientsKernel, JoinBlockCount(outputs), kSumBlock, 0, stream, rows, inputs, outputs, moments,
         static_cast<const Value*>(weight), products, coefficients, partials, most_pieces, gradients);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
