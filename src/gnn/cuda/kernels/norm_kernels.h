// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands between two matrix products, row by row and column by column: bias, batch normalisation (Ioffe and
// Szegedy 2015), activation and dropout, forward and backward, over the rows that a batch really has.
//
// Column sums run over fixed pieces of rows, and pieces are joined in a fixed order (in double): a result depends
// neither on timing nor on the envelope. A piece's squares are taken about its own first row, so that large means
// cost no digits.
//
// A Linear's bias before a normalisation never meets its rows: it moves the mean and nothing else, so it is added to
// the running mean in training and taken from it in evaluation, and its gradient is exactly zero.
//
// All functions enqueue on `stream`. x, y and gradients are [rows, width] of `element` (fp32 or bf16), widths
// multiples of 8; the batch's rows are the nodes known after hop `number`. Rows at or past them are left alone going
// forward, and become zero, up to `padded_rows`, going backward.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/base/rows_on_device.h"
#include "gnn/cuda/kernels/gather_kernels.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

// Per column, each [width]: y = (x - mean) * scale + shift, and what backward needs.
struct ColumnCoefficients {
  float* mean = nullptr;
  float* scale = nullptr;
  float* shift = nullptr;
  float* inverse = nullptr;      // 1 / sqrt(variance + epsilon)
  float* of_gradient = nullptr;  // backward: grad_x = grad * of_gradient + (x - mean) * of_x + constant
  float* of_x = nullptr;
  float* constant = nullptr;
};
inline constexpr int kCoefficientArrays = 7;
ColumnCoefficients CoefficientsIn(float* memory, int32_t width);  // kCoefficientArrays * width floats

// A normalisation's parameters, each [width] on the device. Without `weight` there is none: y = x + linear_bias.
struct NormOnDevice {
  const float* weight = nullptr;
  const float* bias = nullptr;
  const float* linear_bias = nullptr;  // of the Linear before it; null: none
  float* running_mean = nullptr;
  float* running_variance = nullptr;
  float* batches = nullptr;  // [1] num_batches_tracked
};

// Floats that the sums over pieces need.
int64_t ColumnPartials(int32_t padded_rows, int32_t width);

// Coefficients for a forward pass: from the rows (`training`, which also moves the running statistics) or from the
// running ones. `partials` may be null when not training.
cudaError_t EnqueueColumnCoefficients(const RowsOnDevice& rows, Element element, const void* x,
                                      const NormOnDevice& norm, bool training, const ColumnCoefficients& coefficients,
                                      float* partials, cudaStream_t stream);

// What follows the normalisation.
struct Between {
  Activation activation = Activation::kIdentity;
  ActivationOnLoad dropout = {};
};
// y = dropout(activation(normalised x)) + residual + residual_bias; also into the first `width` columns from `also` on
// of rows that are seeds.
struct BetweenOutput {
  void* y = nullptr;
  const void* residual = nullptr;        // [rows, width]; null: none. May be y.
  const float* residual_bias = nullptr;  // [width]; null: none
  void* also = nullptr;                  // null: nowhere else
  int64_t also_stride = 0;
  uint16_t* marks = nullptr;  // [rows, width / 8]: what backward must know of y (row_marks.cuh); null: not wanted
};
cudaError_t EnqueueBetween(const RowsOnDevice& rows, Element element, const void* x,
                           const ColumnCoefficients& coefficients, const Between& between, const BetweenOutput& output,
                           cudaStream_t stream);

// Both, for rows whose coefficients are not known yet: one kernel where rows are few (few_rows_norm.h).
cudaError_t EnqueueNormBetween(const RowsOnDevice& rows, Element element, const void* x, const NormOnDevice& norm,
                               bool training, const ColumnCoefficients& coefficients, const Between& between,
                               const BetweenOutput& output, float* partials, cudaStream_t stream);

// grad_x (may be grad_y) from grad_y, the gradient after dropout; overwrites the parameters' gradients.
//   gradients  weight, bias [width] of the normalisation; linear_bias where there is no normalisation (else it is
//              left as it is: zero)
struct NormGradients {
  float* weight = nullptr;
  float* bias = nullptr;
  float* linear_bias = nullptr;
};
cudaError_t EnqueueBetweenBackward(const RowsOnDevice& rows, Element element, const void* x, const NormOnDevice& norm,
                                   const ColumnCoefficients& coefficients, const Between& between, const void* grad_y,
                                   void* grad_x, const NormGradients& gradients, float* partials, cudaStream_t stream);

// sums [width], overwritten: of each column over the rows.
cudaError_t EnqueueColumnSums(const RowsOnDevice& rows, Element element, const void* x, float* sums, float* partials,
                              cudaStream_t stream);
// Likewise, where the sums over pieces are there already: partials [pieces of kLongPieceRows
// (column_sums.cuh), width].
cudaError_t EnqueueJoinSums(const RowsOnDevice& rows, const float* partials, float* sums, cudaStream_t stream);

// y = dropout(activation(x + bias)), in place where y is x; and its gradient, in place where grad_x is grad_y.
cudaError_t EnqueueBiasActivation(const RowsOnDevice& rows, Element element, const void* x, const float* bias,
                                  const Between& between, void* y, cudaStream_t stream);
cudaError_t EnqueueBiasActivationBackward(const RowsOnDevice& rows, Element element, const void* x, const float* bias,
                                          const Between& between, const void* grad_y, void* grad_x,
                                          cudaStream_t stream);

// to [padded_rows, to_stride], the first `width` columns = from [padded_rows, from_stride], all padded rows.
cudaError_t EnqueueCopyColumns(Element element, int32_t padded_rows, int32_t width, const void* from,
                               int64_t from_stride, void* to, int64_t to_stride, cudaStream_t stream);

}  // namespace hone::gnn::cuda
