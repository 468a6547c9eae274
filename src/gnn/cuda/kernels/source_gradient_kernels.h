// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Does the work of EnqueueAggregateBackward (aggregate_kernels.h) for bf16 rows. In the same pass over the first
// layer's many rows it makes what that layer needs of the gradient: column sums, and the gradient before the activation
// and dropout that made the rows. Sums run in EnqueueAggregateBackward's order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/kernels/aggregate_kernels.h"
#include "gnn/cuda/kernels/norm_kernels.h"

namespace hone::gnn::cuda {

struct SourceGradient {
  void* grad_z = nullptr;  // [padded_sources, width]
  // The gradient before the dropout and activation that made z (row_marks.cuh); null: not written.
  void* before = nullptr;
  const uint16_t* marks = nullptr;  // [padded_sources, width / 8]
  Between between = {};
  // [pieces, width] sums over each piece of kLongPieceRows (column_sums.cuh): first those of `before`, if it is
  // written, then those of grad_z.
  float* partials = nullptr;
};
cudaError_t EnqueueSourceGradient(const AggregateKind& kind, const HopOnDevice& hop, int number,
                                  const AggregateInput& input, int32_t width, int32_t padded_sources,
                                  const void* grad_out, const DirectGradients& direct, const RunState* state,
                                  const BatchHeader* header, const int32_t* nodes, const SourceGradient& to,
                                  cudaStream_t stream);

}  // namespace hone::gnn::cuda
