// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A first layer forward in one kernel, once the coefficients of its normalisation are known before its product
// (input_norm_kernels.h):
//
//   y = dropout(f(norm(x W^T))) + r R^T + b
//
// The product stays in registers, where it is normalised, activated and dropped; the residual's product is added to it
// there, and y is written once, with the marks that backward reads. In place of it two products were written, read and
// written again, in a layer whose arrays are the largest of a step.
//
// For devices of capability 9.0 and the shapes of NormedProductServes; elsewhere the parts do it: Dense and
// EnqueueBetween. On the emulated runtime plain loops stand for it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/kernels/norm_kernels.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

struct NormedProductShape {
  int32_t inputs = 0;
  int32_t outputs = 0;
  int32_t residual_inputs = 0;  // 0: no residual
  Activation activation = Activation::kIdentity;
};
// Whether the current device and the kernel do this shape.
bool NormedProductServes(const NormedProductShape& shape);

// bf16 but for the bias; x and residual are [rows.padded_rows, …], `rows.width` is the outputs. Rows at or past the
// batch's are left alone. Sums are in fp32.
struct NormedProduct {
  const void* x = nullptr;       // [padded_rows, inputs]
  const void* weight = nullptr;  // [outputs, inputs]
  ColumnCoefficients coefficients;
  Between between;
  const uint8_t* kept = nullptr;  // [padded_rows, outputs / 8] from EnqueueKeptBits; null: nothing is dropped
  const void* residual = nullptr;         // [padded_rows, residual_inputs]
  const void* residual_weight = nullptr;  // [outputs, residual_inputs]
  const float* residual_bias = nullptr;   // [outputs]
  void* y = nullptr;                      // [padded_rows, outputs]
  void* also = nullptr;                   // as in BetweenOutput
  int64_t also_stride = 0;
  uint16_t* marks = nullptr;  // [padded_rows, outputs / 8]
};
// Enqueues on `stream`. kDevice with the driver's text where a descriptor of an operand is refused.
Status EnqueueNormedProduct(const RowsOnDevice& rows, const NormedProductShape& shape, const NormedProduct& product,
                            cudaStream_t stream);

}  // namespace hone::gnn::cuda
