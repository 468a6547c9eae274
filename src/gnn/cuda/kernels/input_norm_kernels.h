// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes batch normalisation of a product P = X W^T from the moments of X, which avoids passes over P.
//
// With s = sum of X's rows, C = (X - s / n)^T (X - s / n), and D = W C:
//   mean of P's column j      w_j s / n
//   variance of it            d_j w_j / n
// and, with Y the gradient of P's normalised values, y the column sums of Y, and M = Y^T X:
//   sum of Y (P - mean)       (m_j - y_j s / n) w_j
//   gradient of W             a M + b D + k s^T, where a, b and k are the ColumnCoefficients of norm_kernels.h, so that
//                             the gradient of P itself is never written where X needs no gradient.
// In a first layer X is narrow and P wide, so moments of X cost less than a pass over P. The moments are sums in fp32.
// Their relative error grows with the square of |mean| / deviation of X's columns. Where that matters, the rounding of X
// to bf16 has already lost more.
//
// All functions enqueue on `stream`. X is [padded_rows, inputs] of bf16, W [outputs, inputs] of bf16; `inputs` and
// `outputs` are multiples of 8. `rows` (norm_kernels.h) describes X's rows; `rows.width` is ignored.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/kernels/norm_kernels.h"

namespace hone::gnn::cuda {

// Writes X's column sums to sums [inputs], and zeroes X's rows at or past the batch's, so that products may run over
// all rows.
// `partials`: ColumnPartials(padded_rows, inputs) floats.
cudaError_t EnqueueInputSums(const RowsOnDevice& rows, int32_t inputs, void* x, float* sums, float* partials,
                             cudaStream_t stream);

struct InputMoments {
  const float* sums = nullptr;  // [inputs]
  const float* gram = nullptr;  // [inputs, inputs] X^T X
};
// Does the work of EnqueueColumnCoefficients for training, for the [outputs] columns of P, and writes D to products
// [outputs, inputs].
cudaError_t EnqueueInputCoefficients(const RowsOnDevice& rows, int32_t inputs, int32_t outputs,
                                     const InputMoments& moments, const void* weight, const NormOnDevice& norm,
                                     const ColumnCoefficients& coefficients, float* products, cudaStream_t stream);

// Computes grad [rows, outputs], the gradient before the activation, from grad_y, the gradient after dropout; `grad`
// may be `grad_y`. Rows at or past the batch's become zero. `rows.width` is `outputs` here. The signs of the
// activation's inputs come from `marks` (row_marks.cuh). If `marks` is null, the inputs are computed from x, before the
// normalisation, and `coefficients`.
//   partials  [2, pieces of kLongPieceRows (column_sums.cuh), outputs]: sums over each piece of rows, first of grad,
//             then of grad_y
cudaError_t EnqueueGradientBefore(const RowsOnDevice& rows, const uint16_t* marks, const void* x,
                                  const ColumnCoefficients& coefficients, const Between& between, const void* grad_y,
                                  void* grad, float* partials, cudaStream_t stream);
int64_t GradientPartials(int32_t padded_rows, int32_t outputs);  // floats

// Finishes the gradients once `weight` [outputs, inputs] holds M: turns M into W's gradient, and overwrites the
// normalisation's gradients. `residual_bias` [outputs] gets the column sums of grad_y; null: not written. `most_pieces`
// limits the number of pieces in `partials`: MarkedProductMostPieces() if EnqueueMarkedProduct left them, kAllPieces if
// EnqueueGradientBefore or EnqueueSourceGradient did.
struct InputGradients {
  float* weight = nullptr;
  float* norm_weight = nullptr;
  float* norm_bias = nullptr;
  float* residual_bias = nullptr;
};
cudaError_t EnqueueInputGradients(const RowsOnDevice& rows, int32_t inputs, int32_t outputs,
                                  const InputMoments& moments, const void* weight, const float* products,
                                  const ColumnCoefficients& coefficients, const float* partials, int32_t most_pieces,
                                  const InputGradients& gradients, cudaStream_t stream);
inline constexpr int32_t kAllPieces = INT32_MAX;  // no limit: one piece per kLongPieceRows rows

}  // namespace hone::gnn::cuda
