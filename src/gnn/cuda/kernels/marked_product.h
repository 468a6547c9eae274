// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Propagates gradients back through a Linear and the activation and dropout before it, in one kernel, where forward has
// kept marks (row_marks.cuh):
//
//   before = (grad W) * slopes of the marks,    and its column sums
//
// The product stays in registers until it is final; the separate kernels write, read and write it again
// (EnqueueGradientBefore), in a layer whose arrays are the largest of a step.
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

// Arguments; matrices are bf16, `rows.width` is `outputs`. Sums are in fp32.
struct MarkedProduct {
  const void* grad = nullptr;    // [padded_rows, inner]; zero in rows at or past the batch's
  const void* weight = nullptr;  // [inner, outputs]
  Between between;
  const uint16_t* marks = nullptr;  // [padded_rows, outputs / 8]
  void* before = nullptr;           // [padded_rows, outputs], not in place; zero in rows at or past the batch's
  // [MostPieces, outputs]: each a sum of some rows as they are stored. A batch of n rows writes the first
  // min(MostPieces, ceil(n / 128)); the assignment of rows to pieces does not depend on the envelope.
  float* partials = nullptr;
};
int32_t MarkedProductMostPieces(int32_t padded_rows, const MarkedProductShape& shape);
// Enqueues on `stream`. kDevice with the driver's text if an operand's descriptor is refused.
Status EnqueueMarkedProduct(const RowsOnDevice& rows, const MarkedProductShape& shape, const MarkedProduct& product,
                            cudaStream_t stream);

}  // namespace hone::gnn::cuda
