// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements marked_product.h for the emulated runtime, which has no tensor cores. One thread computes eight columns of
// a row, with sums in the order of k; then one thread sums a column of a piece. Widths that are multiples of 16 are
// supported, so that tests of models run both this kernel and the separate kernels.
#include "gnn/cuda/kernels/marked_product.h"

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_marks.cuh"
#include "gnn/cuda/kernels/column_sums.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 64;
using Value = __nv_bfloat16;

__global__ void __launch_bounds__(kBlock)
    MarkedProductKernel(RowsOnDevice rows, MarkedProductShape shape, MarkedProduct product) {
  const int32_t vectors = rows.width / 8;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  const auto row = static_cast<int32_t>(at / vectors), vector = static_cast<int32_t>(at % vectors);
  if (row >= rows.padded_rows) return;
  Float8 before = {};
  if (row < RowsAfter(rows.header, rows.number)) {
    for (int64_t k = 0; k < shape.inner; ++k) {
      const float grad = ToFloat(static_cast<const Value*>(product.grad)[row * int64_t{shape.inner} + k]);
      const Float8 weight = Load8(static_cast<const Value*>(product.weight) + k * shape.outputs + vector * 8);
      for (int i = 0; i < 8; ++i) before.v[i] += grad * weight.v[i];
    }
    const DropoutKey dropout{.threshold = product.between.dropout.threshold, .scale = product.between.dropout.scale};
    ApplyMark8(shape.activation, ScaleOf(dropout), product.marks[at], before);
  }
  Store8(static_cast<Value*>(product.before) + at * 8, before);
}

__global__ void __launch_bounds__(kBlock) PieceKernel(RowsOnDevice rows, const Value* before, float* partials) {
  const auto column = static_cast<int32_t>(blockIdx.y * kBlock + threadIdx.x);
  if (column >= rows.width) return;
  const int32_t first_row = static_cast<int32_t>(blockIdx.x) * kLongPieceRows;
  float sum = 0;
  for (int32_t row = first_row; row < min(rows.padded_rows, first_row + kLongPieceRows); ++row) {
    sum += ToFloat(before[static_cast<int64_t>(row) * rows.width + column]);
  }
  partials[static_cast<int64_t>(blockIdx.x) * rows.width + column] = sum;
}

}  // namespace

bool MarkedProductServes(const MarkedProductShape& shape) {
  return shape.activation != Activation::kElu && shape.inner % 16 == 0 && shape.outputs % 16 == 0;
}

int32_t MarkedProductMostPieces(int32_t padded_rows, const MarkedProductShape&) {
  return PieceCount(padded_rows, kLongPieceRows);
}

Status EnqueueMarkedProduct(const RowsOnDevice& rows, const MarkedProductShape& shape, const MarkedProduct& product,
                            cudaStream_t stream) {
  const int64_t threads = static_cast<int64_t>(rows.padded_rows) * (rows.width / 8);
  HONE_CUDA_RETURN_IF_ERROR(Launch(MarkedProductKernel, static_cast<int>((threads + kBlock - 1) / kBlock), kBlock, 0,
                                   stream, rows, shape, product));
  HONE_CUDA_RETURN_IF_ERROR(Launch(PieceKernel,
                                   dim3(static_cast<unsigned>(PieceCount(rows.padded_rows, kLongPieceRows)),
                                        static_cast<unsigned>((rows.width + kBlock - 1) / kBlock)),
                                   kBlock, 0, stream, rows, static_cast<const Value*>(product.before), product.partials));
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
