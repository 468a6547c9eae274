// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation over the rows of a matrix (Ioffe and Szegedy 2015).
//
// Statistics are computed in double over the n rows given. Each fixed piece of rows gets its mean and its sum of
// squared deviations, and the pieces are merged in order (Chan, Golub and LeVeque 1979). One pass over memory is thus
// enough, and large means lose no digits.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/gnn/layer.h"

namespace hone::gnn {

inline constexpr double kBatchNormEpsilon = 1e-5;  // PyTorch's defaults
inline constexpr double kBatchNormMomentum = 0.1;

// Mean and variance of each column of the rows of one pass; [cols] each.
struct ColumnStatistics {
  std::vector<double> mean;
  std::vector<double> variance;  // biased: divided by n
  int64_t rows = 0;
};
template <typename T>
void ComputeColumnStatistics(Matrix<const T> x, ColumnStatistics& out, int threads);

// Updates running = (1 - momentum) * running + momentum * batch, with the batch's variance multiplied by n / (n - 1). A
// single row has no variance, so nothing is updated (PyTorch refuses such a batch).
template <typename T>
void UpdateRunningStatistics(const ColumnStatistics& batch, T* running_mean, T* running_variance);

// Computes out = (x - mean) / sqrt(variance + epsilon) * weight + bias. `out` may be x.
template <typename T>
void BatchNormForward(Matrix<const T> x, const ColumnStatistics& statistics, const T* weight, const T* bias,
                      Matrix<T> out, int threads);
// Replaces `grad`, the gradient of the output, by the gradient of x; adds to grad_weight and grad_bias.
// `through_statistics`, true: the statistics were computed from x (training); false: they were constants (evaluation).
template <typename T>
void BatchNormBackward(Matrix<const T> x, const ColumnStatistics& statistics, bool through_statistics, const T* weight,
                       Matrix<T> grad, T* grad_weight, T* grad_bias, int threads);

}  // namespace hone::gnn
