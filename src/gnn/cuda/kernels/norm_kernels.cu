// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements norm_kernels.h: elementwise kernels use one thread per vector; sums are those of column_sums.cuh.
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_marks.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/kernels/column_sums.cuh"
#include "gnn/cuda/kernels/few_rows_norm.h"
#include "gnn/cuda/kernels/norm_kernels.h"
#include "gnn/cuda/kernels/running_statistics.cuh"
#include "gnn/ops/batch_norm.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = kSumBlock;

dim3 SumGrid(const RowsOnDevice& rows) { return cuda::SumGrid(rows.padded_rows, rows.width); }
int VectorBlocks(const RowsOnDevice& rows) {
  return static_cast<int>((static_cast<int64_t>(rows.padded_rows) * (rows.width / 8) + kBlock - 1) / kBlock);
}

// Writes the mean of each piece to partials[piece][0] and its squared deviations to partials[piece][1]; each [width].
template <typename T>
__global__ void __launch_bounds__(kBlock) PieceStatisticsKernel(RowsOnDevice rows, const T* x, float* partials) {
  __shared__ StripSums shared;
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t first_row = static_cast<int32_t>(blockIdx.x) * kPieceRows;
  if (first_row >= count) return;
  const int32_t end_row = min(count, first_row + kPieceRows);
  const int32_t vector = static_cast<int32_t>(blockIdx.y * 32 + threadIdx.x % 32);
  const int64_t width = rows.width;
  Float8 sum = {}, squares = {};
  if (vector * 8 < rows.width) {
    const Float8 about = Load8(x + first_row * width + vector * 8);
#pragma unroll 4
    for (int32_t row = first_row + static_cast<int32_t>(threadIdx.x / 32); row < end_row; row += kSumWarps) {
      const Float8 value = Load8(x + row * width + vector * 8);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float d = value.v[i] - about.v[i];
        sum.v[i] += d;
        squares.v[i] += d * d;
      }
    }
  }
  float total = 0, total_squares = 0;
  JoinWarps(shared, sum, squares, total, total_squares);
  const int32_t column = static_cast<int32_t>(blockIdx.y * kStrip + threadIdx.x);
  if (column >= rows.width) return;
  const float n = static_cast<float>(end_row - first_row);
  float* out = partials + static_cast<int64_t>(blockIdx.x) * 2 * width + column;
  out[0] = ToFloat(x[first_row * width + column]) + total / n;
  out[width] = fmaxf(total_squares - total * (total / n), 0.0f);
}

// Joins the pieces' statistics into coefficients, and updates the running statistics.
__global__ void __launch_bounds__(kBlock)
    JoinStatisticsKernel(RowsOnDevice rows, const float* partials, NormOnDevice norm, ColumnCoefficients out) {
  __shared__ double shared[kBlock];
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t column = JoinColumn();
  const int32_t lane = JoinLane();
  if (count == 0) {  // no batch, or a shard without seeds in the last step
    // That step counts as a batch all the same.
    if (rows.header->valid != 0 && column == 0 && lane == 0) *norm.batches += 1.0f;
    return;
  }
  const int32_t pieces = column < rows.width ? (count + kPieceRows - 1) / kPieceRows : 0;
  const int64_t width = rows.width;
  const double n = count;
  double sum = 0;
#pragma unroll 8
  for (int32_t p = lane; p < pieces; p += kJoinLanes) {
    sum += static_cast<double>(partials[p * 2 * width + column]) * min(kPieceRows, count - p * kPieceRows);
  }
  const double mean = JoinLanes(sum, shared) / n;
  double squares = 0;
#pragma unroll 8
  for (int32_t p = lane; p < pieces; p += kJoinLanes) {
    const double d = static_cast<double>(partials[p * 2 * width + column]) - mean;
    squares +=
        static_cast<double>(partials[(p * 2 + 1) * width + column]) + d * d * min(kPieceRows, count - p * kPieceRows);
  }
  const double variance = JoinLanes(squares, shared) / n;
  if (column >= rows.width || lane != 0) return;
  const double inverse = 1.0 / sqrt(variance + kBatchNormEpsilon);
  out.mean[column] = static_cast<float>(mean);
  out.inverse[column] = static_cast<float>(inverse);
  out.scale[column] = static_cast<float>(static_cast<double>(norm.weight[column]) * inverse);
  out.shift[column] = norm.bias[column];
  if (column == 0) *norm.batches += 1.0f;
  if (count < 2) return;  // one row has no variance
  const double moved = norm.linear_bias != nullptr ? static_cast<double>(norm.linear_bias[column]) : 0.0;
  UpdateRunningStatistic(norm.running_mean[column], mean + moved);
  UpdateRunningStatistic(norm.running_variance[column], variance * n / (n - 1));
}

__global__ void RunningCoefficientsKernel(int32_t width, NormOnDevice norm, ColumnCoefficients out) {
  const int32_t column = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (column >= width) return;
  const float moved = norm.linear_bias != nullptr ? norm.linear_bias[column] : 0.0f;
  if (norm.weight == nullptr) {
    out.mean[column] = 0;
    out.inverse[column] = out.scale[column] = 1;
    out.shift[column] = moved;
    return;
  }
  const double inverse = 1.0 / sqrt(static_cast<double>(norm.running_variance[column]) + kBatchNormEpsilon);
  out.mean[column] = norm.running_mean[column] - moved;
  out.inverse[column] = static_cast<float>(inverse);
  out.scale[column] = static_cast<float>(static_cast<double>(norm.weight[column]) * inverse);
  out.shift[column] = norm.bias[column];
}

// The coefficients of a lane's eight columns, kept while its warp walks down the rows.
struct NormalForm {
  Float8 mean, scale, shift;
};
__device__ NormalForm NormalFormOf(const ColumnCoefficients& c, int32_t vector) {
  return {Load8(c.mean + vector * 8), Load8(c.scale + vector * 8), Load8(c.shift + vector * 8)};
}
__device__ Float8 Normalise8(const NormalForm& c, const Float8& x) {
  Float8 y;
#pragma unroll
  for (int i = 0; i < 8; ++i) y.v[i] = (x.v[i] - c.mean.v[i]) * c.scale.v[i] + c.shift.v[i];
  return y;
}

// The number of rows that a warp handles in elementwise kernels with coefficients. The warp's rows of a strip are
// interleaved with the other warps', and all are loaded before the first is used.
constexpr int kWarpRows = 2;
constexpr int kBlockRows = kWarpRows * kSumWarps;
constexpr int kBlocksEach = 4;  // blocks per multiprocessor, which limits the registers of a thread
dim3 RowGrid(const RowsOnDevice& rows) {
  return dim3(static_cast<unsigned>((rows.padded_rows + kBlockRows - 1) / kBlockRows),
              static_cast<unsigned>((rows.width + kStrip - 1) / kStrip));
}
__device__ int32_t WarpRow(int i) {
  return static_cast<int32_t>(blockIdx.x) * kBlockRows + i * kSumWarps + static_cast<int32_t>(threadIdx.x / 32);
}

template <typename T>
__global__ void __launch_bounds__(kBlock, kBlocksEach)
    BetweenKernel(RowsOnDevice rows, const T* x, ColumnCoefficients coefficients, Between between,
                  BetweenOutput output) {
  const int32_t vectors = rows.width / 8;
  const auto vector = static_cast<int32_t>(blockIdx.y * 32 + threadIdx.x % 32);
  if (vector >= vectors) return;
  const int32_t count = RowsAfter(rows.header, rows.number);
  const T* residual = static_cast<const T*>(output.residual);
  RawOf<T> raw[kWarpRows], raw_residual[kWarpRows];
#pragma unroll
  for (int i = 0; i < kWarpRows; ++i) {
    const int64_t at = (static_cast<int64_t>(WarpRow(i)) * vectors + vector) * 8;
    if (WarpRow(i) < count) raw[i] = LoadRaw(x + at);
    if (residual != nullptr && WarpRow(i) < count) raw_residual[i] = LoadRaw(residual + at);
  }
  const DropoutKey mask = MaskKey(between.dropout, rows.state, rows.header);
  const NormalForm form = NormalFormOf(coefficients, vector);
#pragma unroll
  for (int i = 0; i < kWarpRows; ++i) {
    const int32_t row = WarpRow(i);
    if (row >= count) return;
    const int64_t at = static_cast<int64_t>(row) * vectors + vector;
    Float8 y = Normalise8(form, Widen(raw[i]));
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
    if (output.also != nullptr && row < RowsAfter(rows.header, 0)) {
      Store8(static_cast<T*>(output.also) + row * output.also_stride + vector * 8, y);
    }
  }
}

// Turns the gradient after dropout into the gradient before the activation.
__device__ void GradientBefore(const RowsOnDevice& rows, const NormalForm& form, const Between& between,
                               const DropoutKey& mask, int32_t row, int32_t vector, const Float8& x, Float8& grad) {
  Drop8(mask, static_cast<uint32_t>(rows.nodes[row]), static_cast<uint32_t>(vector), grad);
  if (between.activation != Activation::kIdentity) {
    ActivationSlope8(between.activation, nullptr, vector, Normalise8(form, x), grad);
  }
}

// partials[piece][0] = sum of the gradient, [1] = of the gradient times (x - mean).
template <typename T>
__global__ void __launch_bounds__(kBlock)
    PieceGradientsKernel(RowsOnDevice rows, const T* x, ColumnCoefficients coefficients, Between between,
                         const T* grad_y, float* partials) {
  __shared__ StripSums shared;
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t first_row = static_cast<int32_t>(blockIdx.x) * kPieceRows;
  if (first_row >= count) return;
  const int32_t end_row = min(count, first_row + kPieceRows);
  const int32_t vector = static_cast<int32_t>(blockIdx.y * 32 + threadIdx.x % 32);
  const int64_t width = rows.width;
  const DropoutKey mask = MaskKey(between.dropout, rows.state, rows.header);
  constexpr int kTogether = 4;
  Float8 sum = {}, products = {};
  if (vector * 8 < rows.width) {
    const NormalForm form = NormalFormOf(coefficients, vector);
    const int32_t warp_first_row = first_row + static_cast<int32_t>(threadIdx.x / 32);
    for (int32_t from = warp_first_row; from < end_row; from += kTogether * kSumWarps) {
      RawOf<T> raw[kTogether], raw_grad[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int32_t row = from + i * kSumWarps;
        if (row >= end_row) continue;
        raw[i] = LoadRaw(x + row * width + vector * 8);
        raw_grad[i] = LoadRaw(grad_y + row * width + vector * 8);
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int32_t row = from + i * kSumWarps;
        if (row >= end_row) continue;
        const Float8 value = Widen(raw[i]);
        Float8 grad = Widen(raw_grad[i]);
        GradientBefore(rows, form, between, mask, row, vector, value, grad);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          sum.v[k] += grad.v[k];
          products.v[k] += grad.v[k] * (value.v[k] - form.mean.v[k]);
        }
      }
    }
  }
  float total = 0, total_products = 0;
  JoinWarps(shared, sum, products, total, total_products);
  const int32_t column = static_cast<int32_t>(blockIdx.y * kStrip + threadIdx.x);
  if (column >= rows.width) return;
  float* out = partials + static_cast<int64_t>(blockIdx.x) * 2 * width + column;
  out[0] = total;
  out[width] = total_products;
}

// Joins the pieces' sums into the gradients of the parameters, and into the coefficients of grad_x.
__global__ void __launch_bounds__(kBlock) JoinGradientsKernel(RowsOnDevice rows, const float* partials, bool normalises,
                                                              ColumnCoefficients c, NormGradients gradients) {
  __shared__ double shared[kBlock];
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t column = JoinColumn();
  const int32_t lane = JoinLane();
  const int32_t pieces = column < rows.width ? (count + kPieceRows - 1) / kPieceRows : 0;
  const int64_t width = rows.width;
  double sum = 0, product = 0;
#pragma unroll 8
  for (int32_t p = lane; p < pieces; p += kJoinLanes) {
    sum += static_cast<double>(partials[p * 2 * width + column]);
    product += static_cast<double>(partials[(p * 2 + 1) * width + column]);
  }
  sum = JoinLanes(sum, shared);
  product = JoinLanes(product, shared);
  if (column >= rows.width || lane != 0) return;
  if (!normalises) {
    if (gradients.linear_bias != nullptr) gradients.linear_bias[column] = static_cast<float>(sum);
    c.of_gradient[column] = 1;
    c.of_x[column] = c.constant[column] = 0;
    return;
  }
  const double inverse = static_cast<double>(c.inverse[column]), scale = static_cast<double>(c.scale[column]);
  gradients.weight[column] = count > 0 ? static_cast<float>(product * inverse) : 0.0f;
  gradients.bias[column] = static_cast<float>(sum);
  if (count == 0) return;  // an empty batch has zero gradients too
  c.of_gradient[column] = c.scale[column];
  c.of_x[column] = static_cast<float>(-scale * inverse * inverse * product / count);
  c.constant[column] = static_cast<float>(-scale * sum / count);
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    BetweenBackwardKernel(RowsOnDevice rows, const T* x, ColumnCoefficients c, Between between, const T* grad_y,
                          T* grad_x) {
  const int32_t vectors = rows.width / 8;
  const auto vector = static_cast<int32_t>(blockIdx.y * 32 + threadIdx.x % 32);
  if (vector >= vectors) return;
  const int32_t count = RowsAfter(rows.header, rows.number);
  RawOf<T> raw[kWarpRows], raw_grad[kWarpRows];
#pragma unroll
  for (int i = 0; i < kWarpRows; ++i) {
    const int64_t at = (static_cast<int64_t>(WarpRow(i)) * vectors + vector) * 8;
    if (WarpRow(i) >= count) continue;
    raw[i] = LoadRaw(x + at);
    raw_grad[i] = LoadRaw(grad_y + at);
  }
  const DropoutKey mask = MaskKey(between.dropout, rows.state, rows.header);
  const NormalForm form = NormalFormOf(c, vector);
#pragma unroll
  for (int i = 0; i < kWarpRows; ++i) {
    const int32_t row = WarpRow(i);
    if (row >= rows.padded_rows) return;
    Float8 grad = {};
    if (row < count) {
      const Float8 value = Widen(raw[i]);
      grad = Widen(raw_grad[i]);
      GradientBefore(rows, form, between, mask, row, vector, value, grad);
      const Float8 a = Load8(c.of_gradient + vector * 8), b = Load8(c.of_x + vector * 8),
                   k = Load8(c.constant + vector * 8);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        grad.v[j] = grad.v[j] * a.v[j] + (value.v[j] - form.mean.v[j]) * b.v[j] + k.v[j];
      }
    }
    Store8(grad_x + (static_cast<int64_t>(row) * vectors + vector) * 8, grad);
  }
}

template <typename T>
__global__ void __launch_bounds__(kBlock) PieceSumsKernel(RowsOnDevice rows, const T* x, float* partials) {
  __shared__ StripSums shared;
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t first_row = static_cast<int32_t>(blockIdx.x) * kPieceRows;
  if (first_row >= count) return;
  const int32_t end_row = min(count, first_row + kPieceRows);
  const int32_t vector = static_cast<int32_t>(blockIdx.y * 32 + threadIdx.x % 32);
  const int64_t width = rows.width;
  Float8 sum = {};
  if (vector * 8 < rows.width) {
#pragma unroll 4
    for (int32_t row = first_row + static_cast<int32_t>(threadIdx.x / 32); row < end_row; row += kSumWarps) {
      Add8(Load8(x + row * width + vector * 8), sum);
    }
  }
  float total = 0, nothing = 0;
  JoinWarps(shared, sum, Float8{}, total, nothing);
  const int32_t column = static_cast<int32_t>(blockIdx.y * kStrip + threadIdx.x);
  if (column < rows.width) partials[static_cast<int64_t>(blockIdx.x) * width + column] = total;
}

__global__ void __launch_bounds__(kBlock) JoinSumsKernel(RowsOnDevice rows, int piece_rows, const float* partials, float* sums) {
  __shared__ double shared[kBlock];
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int32_t column = JoinColumn();
  const int32_t lane = JoinLane();
  const int32_t pieces = column < rows.width ? (count + piece_rows - 1) / piece_rows : 0;
  double sum = 0;
#pragma unroll 8
  for (int32_t p = lane; p < pieces; p += kJoinLanes) {
    sum += static_cast<double>(partials[static_cast<int64_t>(p) * rows.width + column]);
  }
  sum = JoinLanes(sum, shared);
  if (column < rows.width && lane == 0) sums[column] = static_cast<float>(sum);
}

// Passes over rows have a vector for each thread, of which there are fewer than 2^32: a division of 32 bits finds the row
// in a fraction of the instructions that one of 64 takes.
__device__ inline int64_t PlaceOfThread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline int32_t RowOf(int64_t place, int32_t vectors) {
  return static_cast<int32_t>(static_cast<uint32_t>(place) / static_cast<uint32_t>(vectors));
}
// Does the work of Activate8. The branch on the activation is taken once, and not for each element.
__device__ inline void ActivateFast8(Activation kind, const float* bias, int32_t vector, Float8& x) {
  if (kind == Activation::kElu) {
    Activate8(Activation::kElu, bias, vector, x);
  } else {
    Activate8(kind, bias, vector, x);
  }
}

template <typename T>
__global__ void BiasActivationKernel(RowsOnDevice rows, const T* x, const float* bias, Between between, T* y) {
  const int32_t vectors = rows.width / 8;
  const int64_t at = PlaceOfThread();
  const int32_t row = RowOf(at, vectors), vector = static_cast<int32_t>(at - int64_t{row} * vectors);
  if (row >= RowsAfter(rows.header, rows.number)) return;
  Float8 value = Load8(x + at * 8);
  ActivateFast8(between.activation, bias, vector, value);
  Drop8(MaskKey(between.dropout, rows.state, rows.header), static_cast<uint32_t>(rows.nodes[row]),
        static_cast<uint32_t>(vector), value);
  Store8(y + at * 8, value);
}

template <typename T>
__global__ void BiasActivationBackwardKernel(RowsOnDevice rows, const T* x, const float* bias, Between between,
                                             const T* grad_y, T* grad_x) {
  const int32_t vectors = rows.width / 8;
  const int64_t at = PlaceOfThread();
  const int32_t row = RowOf(at, vectors), vector = static_cast<int32_t>(at - int64_t{row} * vectors);
  if (row >= rows.padded_rows) return;
  Float8 grad = {};
  if (row < RowsAfter(rows.header, rows.number)) {
    grad = Load8(grad_y + at * 8);
    Drop8(MaskKey(between.dropout, rows.state, rows.header), static_cast<uint32_t>(rows.nodes[row]),
          static_cast<uint32_t>(vector), grad);
    if (between.activation != Activation::kIdentity) {
      ActivationSlope8(between.activation, bias, vector, Load8(x + at * 8), grad);
    }
  }
  Store8(grad_x + at * 8, grad);
}

__device__ inline void ApplyRun8(const SummedValue& value, const RowsOnDevice& rows, int32_t row, int32_t vector, Float8& x) {
  ActivateFast8(value.between.activation, value.bias, vector, x);
  Drop8(MaskKey(value.between.dropout, rows.state, rows.header), static_cast<uint32_t>(rows.nodes[row]),
        static_cast<uint32_t>(vector), x);
}
template <typename T>
__global__ void SumThroughKernel(RowsOnDevice rows, SummedValue first, SummedValue second, const float* eps, T* y) {
  const int32_t vectors = rows.width / 8;
  const int64_t at = PlaceOfThread();
  const int32_t row = RowOf(at, vectors), vector = static_cast<int32_t>(at - int64_t{row} * vectors);
  if (row >= rows.padded_rows) return;
  Float8 sum = {};
  if (row < RowsAfter(rows.header, rows.number)) {
    sum = Load8(static_cast<const T*>(first.x) + at * 8);
    Float8 other = Load8(static_cast<const T*>(second.x) + at * 8);
    ApplyRun8(first, rows, row, vector, sum);
    ApplyRun8(second, rows, row, vector, other);
    const float factor = eps != nullptr ? 1.0f + *eps : 1.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.v[i] += factor * other.v[i];
  }
  Store8(y + at * 8, sum);
}

template <typename T>
__global__ void CopyColumnsKernel(int32_t padded_rows, int32_t vectors, const T* from, int64_t from_stride, T* to,
                                  int64_t to_stride) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = at / vectors, vector = at % vectors;
  if (row >= padded_rows) return;
  Store8(to + row * to_stride + vector * 8, Load8(from + row * from_stride + vector * 8));
}

}  // namespace

ColumnCoefficients CoefficientsIn(float* memory, int32_t width) {
  const auto part = [&](int i) { return memory + static_cast<int64_t>(i) * width; };
  return {part(0), part(1), part(2), part(3), part(4), part(5), part(6)};
}

int64_t ColumnPartials(int32_t padded_rows, int32_t width) { return int64_t{2} * PieceCount(padded_rows) * width; }

cudaError_t EnqueueColumnCoefficients(const RowsOnDevice& rows, Element element, const void* x,
                                      const NormOnDevice& norm, bool training, const ColumnCoefficients& coefficients,
                                      float* partials, cudaStream_t stream) {
  if (!training || norm.weight == nullptr) {
    Launch(RunningCoefficientsKernel, (rows.width + kBlock - 1) / kBlock, kBlock, 0, stream, rows.width, norm,
           coefficients);
    return cudaPeekAtLastError();
  }
  if (element == Element::kFloat32) {
    Launch(PieceStatisticsKernel<float>, SumGrid(rows), kBlock, 0, stream, rows, static_cast<const float*>(x),
           partials);
  } else {
    Launch(PieceStatisticsKernel<__nv_bfloat16>, SumGrid(rows), kBlock, 0, stream, rows,
           static_cast<const __nv_bfloat16*>(x), partials);
  }
  Launch(JoinStatisticsKernel, JoinBlockCount(rows.width), kBlock, 0, stream, rows, partials, norm, coefficients);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueBetween(const RowsOnDevice& rows, Element element, const void* x,
                           const ColumnCoefficients& coefficients, const Between& between, const BetweenOutput& output,
                           cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(BetweenKernel<float>, RowGrid(rows), kBlock, 0, stream, rows, static_cast<const float*>(x),
           coefficients, between, output);
  } else {
    Launch(BetweenKernel<__nv_bfloat16>, RowGrid(rows), kBlock, 0, stream, rows,
           static_cast<const __nv_bfloat16*>(x), coefficients, between, output);
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueNormBetween(const RowsOnDevice& rows, Element element, const void* x, const NormOnDevice& norm,
                               bool training, const ColumnCoefficients& coefficients, const Between& between,
                               const BetweenOutput& output, float* partials, cudaStream_t stream) {
  if (training && norm.weight != nullptr && AreFewRows(rows)) {
    return EnqueueNormOfFewRows(rows, element, x, norm, coefficients, between, output, stream);
  }
  const cudaError_t error =
      EnqueueColumnCoefficients(rows, element, x, norm, training, coefficients, partials, stream);
  return error != cudaSuccess ? error : EnqueueBetween(rows, element, x, coefficients, between, output, stream);
}

namespace {

template <typename T>
cudaError_t BetweenBackward(const RowsOnDevice& rows, const T* x, const NormOnDevice& norm,
                            const ColumnCoefficients& coefficients, const Between& between, const T* grad_y, T* grad_x,
                            const NormGradients& gradients, float* partials, cudaStream_t stream) {
  Launch(PieceGradientsKernel<T>, SumGrid(rows), kBlock, 0, stream, rows, x, coefficients, between, grad_y, partials);
  Launch(JoinGradientsKernel, JoinBlockCount(rows.width), kBlock, 0, stream, rows, partials, norm.weight != nullptr,
         coefficients, gradients);
  Launch(BetweenBackwardKernel<T>, RowGrid(rows), kBlock, 0, stream, rows, x, coefficients, between, grad_y,
         grad_x);
  return cudaPeekAtLastError();
}

}  // namespace

cudaError_t EnqueueBetweenBackward(const RowsOnDevice& rows, Element element, const void* x, const NormOnDevice& norm,
                                   const ColumnCoefficients& coefficients, const Between& between, const void* grad_y,
                                   void* grad_x, const NormGradients& gradients, float* partials, cudaStream_t stream) {
  if (norm.weight != nullptr && AreFewRows(rows)) {
    return EnqueueNormOfFewRowsBackward(rows, element, x, coefficients, between, grad_y, grad_x, gradients, stream);
  }
  if (element == Element::kFloat32) {
    return BetweenBackward(rows, static_cast<const float*>(x), norm, coefficients, between,
                           static_cast<const float*>(grad_y), static_cast<float*>(grad_x), gradients, partials, stream);
  }
  return BetweenBackward(rows, static_cast<const __nv_bfloat16*>(x), norm, coefficients, between,
                         static_cast<const __nv_bfloat16*>(grad_y), static_cast<__nv_bfloat16*>(grad_x), gradients,
                         partials, stream);
}

cudaError_t EnqueueColumnSums(const RowsOnDevice& rows, Element element, const void* x, float* sums, float* partials,
                              cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(PieceSumsKernel<float>, SumGrid(rows), kBlock, 0, stream, rows, static_cast<const float*>(x), partials);
  } else {
    Launch(PieceSumsKernel<__nv_bfloat16>, SumGrid(rows), kBlock, 0, stream, rows, static_cast<const __nv_bfloat16*>(x),
           partials);
  }
  Launch(JoinSumsKernel, JoinBlockCount(rows.width), kBlock, 0, stream, rows, kPieceRows, partials, sums);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueJoinSums(const RowsOnDevice& rows, const float* partials, float* sums, cudaStream_t stream) {
  Launch(JoinSumsKernel, JoinBlockCount(rows.width), kBlock, 0, stream, rows, kLongPieceRows, partials, sums);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueBiasActivation(const RowsOnDevice& rows, Element element, const void* x, const float* bias,
                                  const Between& between, void* y, cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(BiasActivationKernel<float>, VectorBlocks(rows), kBlock, 0, stream, rows, static_cast<const float*>(x), bias,
           between, static_cast<float*>(y));
  } else {
    Launch(BiasActivationKernel<__nv_bfloat16>, VectorBlocks(rows), kBlock, 0, stream, rows,
           static_cast<const __nv_bfloat16*>(x), bias, between, static_cast<__nv_bfloat16*>(y));
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueBiasActivationBackward(const RowsOnDevice& rows, Element element, const void* x, const float* bias,
                                          const Between& between, const void* grad_y, void* grad_x,
                                          cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(BiasActivationBackwardKernel<float>, VectorBlocks(rows), kBlock, 0, stream, rows,
           static_cast<const float*>(x), bias, between, static_cast<const float*>(grad_y), static_cast<float*>(grad_x));
  } else {
    Launch(BiasActivationBackwardKernel<__nv_bfloat16>, VectorBlocks(rows), kBlock, 0, stream, rows,
           static_cast<const __nv_bfloat16*>(x), bias, between, static_cast<const __nv_bfloat16*>(grad_y),
           static_cast<__nv_bfloat16*>(grad_x));
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueSumThrough(const RowsOnDevice& rows, Element element, const SummedValue& first,
                              const SummedValue& second, const float* eps, void* y, cudaStream_t stream) {
  if (element == Element::kFloat32) {
    return Launch(SumThroughKernel<float>, VectorBlocks(rows), kBlock, 0, stream, rows, first, second, eps,
                  static_cast<float*>(y));
  }
  return Launch(SumThroughKernel<__nv_bfloat16>, VectorBlocks(rows), kBlock, 0, stream, rows, first, second, eps,
                static_cast<__nv_bfloat16*>(y));
}

cudaError_t EnqueueCopyColumns(Element element, int32_t padded_rows, int32_t width, const void* from,
                               int64_t from_stride, void* to, int64_t to_stride, cudaStream_t stream) {
  const int blocks = static_cast<int>((static_cast<int64_t>(padded_rows) * (width / 8) + kBlock - 1) / kBlock);
  if (element == Element::kFloat32) {
    Launch(CopyColumnsKernel<float>, blocks, kBlock, 0, stream, padded_rows, width / 8, static_cast<const float*>(from),
           from_stride, static_cast<float*>(to), to_stride);
  } else {
    Launch(CopyColumnsKernel<__nv_bfloat16>, blocks, kBlock, 0, stream, padded_rows, width / 8,
           static_cast<const __nv_bfloat16*>(from), from_stride, static_cast<__nv_bfloat16*>(to), to_stride);
  }
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
