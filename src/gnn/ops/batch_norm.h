// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation over the rows of a matrix (Ioffe and Szegedy 2015).
//
// Statistics run over the n rows given, in double: each fixed piece of rows gets its mean and its sum of squared
// deviations, and the pieces are merged in their order (Chan, Golub and LeVeque 1979), so one pass over memory is
// enough and large means cost no digits.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/gnn/layer.h"

namespace hone::gnn {

inline constexpr double kBatchNormEpsilon = 1e-5;  // PyTorch's defaults
inline constexpr double kBatchNormMomentum = 0.1;

// Statistics of the rows of one pass; [cols] each.
struct ColumnStatistics {
  std::vector<double> mean;
  std::vector<double> variance;  // biased: divided by n
  int64_t rows = 0;
};
template <typename T>
void ComputeColumnStatistics(Matrix<const T> x, ColumnStatistics& out, int threads);

// Updates running = (1 - momentum) * running + momentum * batch, with the batch's variance times n / (n - 1). One row
// has no variance: nothing is updated (PyTorch refuses such a batch).
template <typename T>
void UpdateRunningStatistics(const ColumnStatistics& batch, T* running_mean, T* running_variance);

// out = (x - mean) / sqrt(variance + epsilon) * weight + bias; out may be x.
template <typename T>
void BatchNormForward(Matrix<const T> x, const ColumnStatistics& statistics, const T* weight, const T* bias,
                      Matrix<T> out, int threads);
// Turns grad into the gradient of x; adds to grad_weight and grad_bias. `through_statistics`: the statistics came from
// x (training); otherwise they were constants (evaluation).
template <typename T>
void BatchNormBackward(Matrix<const T> x, const ColumnStatistics& statistics, bool through_statistics, const T* weight,
                       Matrix<T> grad, T* grad_weight, T* grad_bias, int threads);

}  // namespace hone::gnn
