// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements normed_product.h for the emulated runtime, which has no tensor cores. One thread computes eight columns of
// a row, with sums in the order of k. Widths that are multiples of 16 are supported, so that tests run both this kernel
// and the separate kernels.
#include "gnn/cuda/kernels/normed_product.h"

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_marks.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 64;
using Value = __nv_bfloat16;

__device__ float DotOfRows(const void* x, const void* weight, int64_t row, int64_t column, int32_t inputs) {
  float sum = 0;
  for (int64_t k = 0; k < inputs; ++k) {
    sum += ToFloat(static_cast<const Value*>(x)[row * inputs + k]) *
           ToFloat(static_cast<const Value*>(weight)[column * inputs + k]);
  }
  return sum;
}

__global__ void __launch_bounds__(kBlock)
    NormedProductKernel(RowsOnDevice rows, NormedProductShape shape, NormedProduct product) {
  const int32_t vectors = rows.width / 8;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  const auto row = static_cast<int32_t>(at / vectors), vector = static_cast<int32_t>(at % vectors);
  if (row >= RowsAfter(rows.header, rows.number)) return;
  Float8 y;
  for (int i = 0; i < 8; ++i) {
    const int32_t column = vector * 8 + i;
    const ColumnCoefficients& c = product.coefficients;
    y.v[i] = (DotOfRows(product.x, product.weight, row, column, shape.inputs) - c.mean[column]) * c.scale[column] +
             c.shift[column];
  }
  RowMark mark = ActivateAndMark8(product.between.activation, {}, 0, 0, y);
  if (product.kept != nullptr) {
    for (int i = 0; i < 8; ++i) {
      const bool is_kept = (product.kept[at] >> i & 1u) != 0;
      y.v[i] = is_kept ? y.v[i] * product.between.dropout.scale : 0.0f;
      if (!is_kept) mark = static_cast<RowMark>(mark & ~(0x100u << i));
    }
  }
  if (product.marks != nullptr) product.marks[at] = mark;
  for (int i = 0; i < 8 && shape.residual_inputs > 0; ++i) {
    const int32_t column = vector * 8 + i;
    y.v[i] += DotOfRows(product.residual, product.residual_weight, row, column, shape.residual_inputs);
    if (product.residual_bias != nullptr) y.v[i] += product.residual_bias[column];
  }
  Store8(static_cast<Value*>(product.y) + at * 8, y);
  if (product.also != nullptr && row < RowsAfter(rows.header, 0)) {
    Store8(static_cast<Value*>(product.also) + row * product.also_stride + vector * 8, y);
  }
}

}  // namespace

bool NormedProductServes(const NormedProductShape& shape) {
  return shape.activation != Activation::kElu && shape.outputs % 16 == 0;
}

Status EnqueueNormedProduct(const RowsOnDevice& rows, const NormedProductShape& shape, const NormedProduct& product,
                            cudaStream_t stream) {
  const int64_t threads = static_cast<int64_t>(rows.padded_rows) * (rows.width / 8);
  HONE_CUDA_RETURN_IF_ERROR(Launch(NormedProductKernel, static_cast<int>((threads + kBlock - 1) / kBlock), kBlock, 0,
                                   stream, rows, shape, product));
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
