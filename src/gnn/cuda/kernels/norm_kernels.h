// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes what lies between two matrix products: bias, batch normalisation (Ioffe and Szegedy 2015), activation and
// dropout, forward and backward, over the rows that a batch really has.
//
// Column sums run over fixed pieces of rows, and pieces are joined in a fixed order (in double), so a result depends
// neither on timing nor on the envelope. The squares of a piece are taken about the piece's first row, so that large
// means cost no digits.
//
// A Linear's bias before a normalisation is never added to rows: it only shifts the mean, so it is added to the running
// mean in training and subtracted from it in evaluation, and its gradient is exactly zero.
//
// All functions enqueue on `stream`. x, y and gradients are [rows, width] of `element` (fp32 or bf16), widths multiples
// of 8. The batch's rows are the nodes known after hop `number`. Rows at or past them are left unchanged by forward; in
// gradients they become zero, up to `padded_rows`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/base/rows_on_device.h"
#include "gnn/cuda/kernels/gather_kernels.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

// The coefficients of columns, each [width]: y = (x - mean) * scale + shift, and the coefficients that backward needs.
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

// A normalisation's parameters, each [width] on the device. A null `weight` means that there is no normalisation: y = x
// + linear_bias.
struct NormOnDevice {
  const float* weight = nullptr;
  const float* bias = nullptr;
  const float* linear_bias = nullptr;  // bias of the Linear before it; null: none
  float* running_mean = nullptr;
  float* running_variance = nullptr;
  float* batches = nullptr;  // [1] num_batches_tracked
};

// Returns the number of floats in `partials`, the sums over pieces.
int64_t ColumnPartials(int32_t padded_rows, int32_t width);

// Computes the coefficients of a forward pass. With `training` they come from the rows, and the running statistics are
// updated; otherwise they come from the running statistics, and `partials` may be null.
cudaError_t EnqueueColumnCoefficients(const RowsOnDevice& rows, Element element, const void* x,
                                      const NormOnDevice& norm, bool training, const ColumnCoefficients& coefficients,
                                      float* partials, cudaStream_t stream);

// The operations after the normalisation.
struct Between {
  Activation activation = Activation::kIdentity;
  DropoutOnLoad dropout = {};
};
// The outputs of y = dropout(activation(normalised x)) + residual + residual_bias. The seeds' rows are also written to
// `also` [seeds, also_stride], in its first `width` columns.
struct BetweenOutput {
  void* y = nullptr;
  const void* residual = nullptr;        // [rows, width]; null: none. May be y.
  const float* residual_bias = nullptr;  // [width]; null: none
  void* also = nullptr;                  // null: no second copy
  int64_t also_stride = 0;               // elements
  uint16_t* marks = nullptr;             // [rows, width / 8] for backward (row_marks.cuh); null: not written
};
cudaError_t EnqueueBetween(const RowsOnDevice& rows, Element element, const void* x,
                           const ColumnCoefficients& coefficients, const Between& between, const BetweenOutput& output,
                           cudaStream_t stream);

// Does the work of EnqueueColumnCoefficients and EnqueueBetween, in one kernel if the rows are few (few_rows_norm.h).
cudaError_t EnqueueNormBetween(const RowsOnDevice& rows, Element element, const void* x, const NormOnDevice& norm,
                               bool training, const ColumnCoefficients& coefficients, const Between& between,
                               const BetweenOutput& output, float* partials, cudaStream_t stream);

// Computes grad_x from grad_y, the gradient after dropout, and overwrites the parameters' gradients; grad_x may be
// grad_y.
//   gradients  weight, bias [width] of the normalisation; linear_bias is written only without a normalisation (with
//              one, its gradient is zero)
struct NormGradients {
  float* weight = nullptr;
  float* bias = nullptr;
  float* linear_bias = nullptr;
};
cudaError_t EnqueueBetweenBackward(const RowsOnDevice& rows, Element element, const void* x, const NormOnDevice& norm,
                                   const ColumnCoefficients& coefficients, const Between& between, const void* grad_y,
                                   void* grad_x, const NormGradients& gradients, float* partials, cudaStream_t stream);

// Overwrites sums [width] with the sum of each column over the rows.
cudaError_t EnqueueColumnSums(const RowsOnDevice& rows, Element element, const void* x, float* sums, float* partials,
                              cudaStream_t stream);
// Computes the same from existing sums over pieces: partials [pieces of kLongPieceRows (column_sums.cuh), width].
cudaError_t EnqueueJoinSums(const RowsOnDevice& rows, const float* partials, float* sums, cudaStream_t stream);

// Compute y = dropout(activation(x + bias)), in place if y is x, and its gradient, in place if grad_x is grad_y.
cudaError_t EnqueueBiasActivation(const RowsOnDevice& rows, Element element, const void* x, const float* bias,
                                  const Between& between, void* y, cudaStream_t stream);
cudaError_t EnqueueBiasActivationBackward(const RowsOnDevice& rows, Element element, const void* x, const float* bias,
                                          const Between& between, const void* grad_y, void* grad_x,
                                          cudaStream_t stream);

// One of two values that are added: dropout(activation(x + bias)).
struct SummedValue {
  const void* x = nullptr;
  const float* bias = nullptr;  // [width]; null: none
  Between between = {};
};
// Writes y = first + (1 + eps) second. `eps` [1] is on the device; null: 0. Rows past the batch's become zero, up to
// `padded_rows`.
cudaError_t EnqueueSumThrough(const RowsOnDevice& rows, Element element, const SummedValue& first,
                              const SummedValue& second, const float* eps, void* y, cudaStream_t stream);

// Copies the first `width` columns of `from` [padded_rows, from_stride] to `to` [padded_rows, to_stride], in all padded
// rows.
cudaError_t EnqueueCopyColumns(Element element, int32_t padded_rows, int32_t width, const void* from,
                               int64_t from_stride, void* to, int64_t to_stride, cudaStream_t stream);

}  // namespace hone::gnn::cuda
