// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Normalises each row over its columns (Ba, Kiros and Hinton 2016), with moments in double.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/gnn/layer.h"

namespace hone::gnn {

inline constexpr double kLayerNormEpsilon = 1e-5;  // PyTorch's default

struct RowMoments {
  std::vector<double> mean, inverse;  // [rows]; 1 / sqrt(variance + epsilon)
};

// Computes out = (x - mean) * inverse * weight + bias, and the moments. weight and bias [cols]; out may be x.
template <typename T>
void LayerNormForward(Matrix<const T> x, const T* weight, const T* bias, RowMoments& moments, Matrix<T> out,
                      int threads);
// Turns grad into the gradient of x; adds to grad_weight and grad_bias.
template <typename T>
void LayerNormBackward(Matrix<const T> x, const RowMoments& moments, const T* weight, Matrix<T> grad, T* grad_weight,
                       T* grad_bias, int threads);

}  // namespace hone::gnn
