// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation and what follows it where rows are few, as those of the seeds: forward one kernel instead of three,
// backward one instead of three. A block has eight columns and all rows of them in registers. These kernels take a few
// microseconds each whatever they do, and each waits for the one before it.
//
// What norm_kernels.h says holds; sums are over rows in one fixed order, in fp32.
#pragma once

#include "gnn/cuda/kernels/norm_kernels.h"

namespace hone::gnn::cuda {

inline constexpr int32_t kFewRows = 1024;
// Of the seeds alone: their envelope is the same in every bucket, on which bits must not depend.
inline bool AreFewRows(const RowsOnDevice& rows) { return rows.number == 0 && rows.padded_rows <= kFewRows; }

// EnqueueColumnCoefficients for training and EnqueueBetween; norm.weight is not null.
cudaError_t EnqueueNormOfFewRows(const RowsOnDevice& rows, Element element, const void* x, const NormOnDevice& norm,
                                 const ColumnCoefficients& coefficients, const Between& between,
                                 const BetweenOutput& output, cudaStream_t stream);
// EnqueueBetweenBackward of that.
cudaError_t EnqueueNormOfFewRowsBackward(const RowsOnDevice& rows, Element element, const void* x,
                                         const ColumnCoefficients& coefficients, const Between& between,
                                         const void* grad_y, void* grad_x, const NormGradients& gradients,
                                         cudaStream_t stream);

}  // namespace hone::gnn::cuda
