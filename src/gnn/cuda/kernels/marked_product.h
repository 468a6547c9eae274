// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Backwards through a Linear and the activation and dropout before it, in one kernel, where forward has kept marks
// (row_marks.cuh):
//
//   before = (grad W) * slopes of the marks,    and the sums of its columns
//
// The product stays in registers until it is what is wanted; in place of that it was written, read and written again
// (EnqueueGradientBefore), in a layer whose arrays are the largest of a step.
//
// For devices of capability 9.0 and the shapes of MarkedProductServes; elsewhere the parts do it. On the emulated runtime
// plain loops stand for it.
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
// Whether the current device and the kernel do this shape.
bool MarkedProductServes(const MarkedProductShape& shape);

// bf16; `rows.width` is the outputs. Sums are in fp32.
struct MarkedProduct {
  const void* grad = nullptr;    // [padded_rows, inner]; zero in rows at or past the batch's
  const void* weight = nullptr;  // [inner, outputs]
  Between between;
  const uint16_t* marks = nullptr;  // [padded_rows, outputs / 8]
  void* before = nullptr;           // [padded_rows, outputs], not in place; zero in rows at or past the batch's
  // [MostPieces, outputs]: each a sum of some rows as they are stored. A batch of n rows leaves the first
  // min(MostPieces, ceil(n / 128)); which rows are in which does not depend on the envelope.
  float* partials = nullptr;
};
int32_t MarkedProductMostPieces(int32_t padded_rows, const MarkedProductShape& shape);
// Enqueues on `stream`. kDevice with the driver's text where a descriptor of an operand is refused.
Status EnqueueMarkedProduct(const RowsOnDevice& rows, const MarkedProductShape& shape, const MarkedProduct& product,
                            cudaStream_t stream);

}  // namespace hone::gnn::cuda
