// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Propagates gradients back through a Linear and the activation and dropout before it, in one kernel. Forward must have
// kept marks (row_marks.cuh):
//
//   before = (grad W) * slopes of the marks,    and the column sums of `before`
//
// The product stays in registers until it is final. The separate kernels (EnqueueGradientBefore) write it, read it and
// write it again, in a layer whose arrays are the largest of a step.
//
// Runs on devices of capability 9.0 and for the shapes of MarkedProductServes; elsewhere callers use the separate
// kernels. The emulated runtime replaces this kernel by plain loops.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/kernels/norm_kernels.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

struct MarkedProductShape {
  int32_t inner = 0;    // columns of grad
  int32_t outputs = 0;  // columns of before
  Activation activation = Activation::kIdentity;
};
// Returns whether the kernel supports this shape on the current device.
bool MarkedProductServes(const MarkedProductShape& shape);

// The arguments. Matrices are bf16, sums are in fp32, and `rows.width` is `outputs`.
struct MarkedProduct {
  const void* grad = nullptr;    // [padded_rows, inner]; zero in rows at or past the batch's
  const void* weight = nullptr;  // [inner, outputs]
  Between between;
  const uint16_t* marks = nullptr;  // [padded_rows, outputs / 8]
  void* before = nullptr;           // [padded_rows, outputs], not in place; zero in rows at or past the batch's
  // [MarkedProductMostPieces(), outputs]: each row is the sum of some rows of `before` as stored. A batch of n rows
  // writes the first min(MarkedProductMostPieces(), ceil(n / 128)) pieces. Which rows a piece has does not depend on
  // the envelope.
  float* partials = nullptr;
};
int32_t MarkedProductMostPieces(int32_t padded_rows, const MarkedProductShape& shape);
// Enqueues on `stream`. kDevice, with the driver's text, if the driver refuses the descriptor of an operand.
Status EnqueueMarkedProduct(const RowsOnDevice& rows, const MarkedProductShape& shape, const MarkedProduct& product,
                            cudaStream_t stream);

}  // namespace hone::gnn::cuda
