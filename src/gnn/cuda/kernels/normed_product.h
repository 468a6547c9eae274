// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes a first layer forward in one kernel, if the coefficients of its normalisation are known before its product
// (input_norm_kernels.h):
//
//   y = dropout(f(norm(x W^T))) + r R^T + b
//
// The product stays in registers, where it is normalised, activated and dropped. The residual's product is added there,
// and y is written once, with the marks that backward reads. The separate kernels write, read and write two products,
// in a layer whose arrays are the largest of a step.
//
// Runs on devices of capability 9.0 and for the shapes of NormedProductServes; elsewhere callers use the separate
// kernels, Dense and EnqueueBetween. The emulated runtime replaces this kernel by plain loops.
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
// Returns whether the kernel supports this shape on the current device.
bool NormedProductServes(const NormedProductShape& shape);

// The arguments. Matrices are bf16, residual_bias is fp32, sums are in fp32, and `rows.width` is `outputs`. Rows of y
// at or past the batch's are left unchanged.
struct NormedProduct {
  const void* x = nullptr;       // [padded_rows, inputs]
  const void* weight = nullptr;  // [outputs, inputs]
  ColumnCoefficients coefficients;
  Between between;
  const uint8_t* kept = nullptr;  // [padded_rows, outputs / 8] from EnqueueActivationDropoutBits; null: no dropout
  const void* residual = nullptr;         // [padded_rows, residual_inputs]
  const void* residual_weight = nullptr;  // [outputs, residual_inputs]
  const float* residual_bias = nullptr;   // [outputs]
  void* y = nullptr;                      // [padded_rows, outputs]
  void* also = nullptr;                   // the seeds' rows of y are also written here; null: no (BetweenOutput::also)
  int64_t also_stride = 0;
  uint16_t* marks = nullptr;  // [padded_rows, outputs / 8]
};
// Enqueues on `stream`. kDevice, with the driver's text, if the driver refuses the descriptor of an operand.
Status EnqueueNormedProduct(const RowsOnDevice& rows, const NormedProductShape& shape, const NormedProduct& product,
                            cudaStream_t stream);

}  // namespace hone::gnn::cuda
