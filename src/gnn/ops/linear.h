// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Multiplies by a Linear layer's weight, with OpenBLAS over fixed row blocks, each on one thread.
//
// A weight is [out_width, in_width] as in PyTorch. Blocks, and the order in which partial sums are added, follow from
// the shapes alone: the same bits on any number of threads. (CPUs of different kinds may round differently.)
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gnn/ops/buffer.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {

// Computes out [n, out_width] = x [n, in_width] * weight^T + bias; `bias` may be null. `accumulate`: adds to `out`
// instead. Here and below, n is the number of rows of the input matrix; the output may have more.
template <typename T>
void LinearForward(Matrix<const T> x, Matrix<const T> weight, const T* bias, bool accumulate, Matrix<T> out,
                   int threads);

// Computes grad_x [n, in_width] = grad_out [n, out_width] * weight. `accumulate`: adds to grad_x instead.
template <typename T>
void LinearBackwardInput(Matrix<const T> grad_out, Matrix<const T> weight, bool accumulate, Matrix<T> grad_x,
                         int threads);

// Computes grad_weight += grad_out^T * x, over all n rows. `partials` is a workspace that the caller keeps.
template <typename T>
void LinearBackwardWeight(Matrix<const T> grad_out, Matrix<const T> x, Matrix<T> grad_weight, Buffer<T>& partials,
                          int threads);

// Adds to sums[c] the sum of x's column c, computed in double.
template <typename T>
void AddColumnSums(Matrix<const T> x, T* sums, int threads);

// Returns the name of the processor for which OpenBLAS chose its kernels at start: "SkylakeX".
std::string ProductKernels();

}  // namespace hone::gnn
