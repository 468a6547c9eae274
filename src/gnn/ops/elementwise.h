// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes activations in place, and sums and copies of matrices. The backward pass of an activation needs only its
// output, so no input is kept.
#pragma once

#include <cstdint>

#include "hone/gnn/layer.h"

namespace hone::gnn {

enum class Activation : uint8_t { kIdentity, kRelu, kLeakyRelu, kElu };

// kLeakyRelu's slope below zero; PyTorch's default.
inline constexpr double kLeakySlope = 0.01;

// Sets x = f(x): max(x, 0); x or slope * x; x or exp(x) - 1.
template <typename T>
void ActivationForward(Activation kind, Matrix<T> x, int threads);
// Sets grad *= f'(input). The derivative is computed from out = out_scale * f(input): dropout after an activation
// multiplies what it keeps, and elements that it drops already have a zero gradient. At zero the derivative is the one
// from below, as in PyTorch.
template <typename T>
void ActivationBackward(Activation kind, double out_scale, Matrix<const T> out, Matrix<T> grad, int threads);

// Computes to += factor * from, over the rows of `from`.
template <typename T>
void AddTo(Matrix<const T> from, Matrix<T> to, int threads, T factor = T(1));
// Copies `from` to `to`, over the rows of `from`.
template <typename T>
void CopyTo(Matrix<const T> from, Matrix<T> to, int threads);

}  // namespace hone::gnn
