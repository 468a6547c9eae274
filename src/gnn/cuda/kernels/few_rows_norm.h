// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes batch normalisation and what follows it for few rows, such as the seeds': one kernel instead of three in
// each direction. A thread block holds eight columns and all their rows in registers. One kernel is faster because each
// takes a few microseconds whatever it does, and waits for the previous one.
//
// The conventions of norm_kernels.h hold; sums over rows run in one fixed order, in fp32.
#pragma once

#include "gnn/cuda/kernels/norm_kernels.h"

namespace hone::gnn::cuda {

inline constexpr int32_t kFewRows = 1024;
// Returns whether the kernels of this file may be used. Only the seeds' rows are ever few: their envelope is the same
// in every bucket, and results must not depend on the bucket.
inline bool AreFewRows(const RowsOnDevice& rows) { return rows.number == 0 && rows.padded_rows <= kFewRows; }

// Does the work of EnqueueColumnCoefficients for training and of EnqueueBetween; norm.weight must not be null.
cudaError_t EnqueueNormOfFewRows(const RowsOnDevice& rows, Element element, const void* x, const NormOnDevice& norm,
                                 const ColumnCoefficients& coefficients, const Between& between,
                                 const BetweenOutput& output, cudaStream_t stream);
// Does the work of EnqueueBetweenBackward for these rows.
cudaError_t EnqueueNormOfFewRowsBackward(const RowsOnDevice& rows, Element element, const void* x,
                                         const ColumnCoefficients& coefficients, const Between& between,
                                         const void* grad_y, void* grad_x, const NormGradients& gradients,
                                         cudaStream_t stream);

}  // namespace hone::gnn::cuda
