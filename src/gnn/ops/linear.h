// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Products with a Linear layer's weight, by OpenBLAS over fixed row blocks, each on one thread.
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

// out [n, out_width] = x [n, in_width] * weight^T + bias; `bias` may be null. `accumulate`: added to out instead. n is
// the rows of the matrix that is read, here and below; the one written may have more.
template <typename T>
void LinearForward(Matrix<const T> x, Matrix<const T> weight, const T* bias, bool accumulate, Matrix<T> out,
                   int threads);

// grad_x [n, in_width] = grad_out [n, out_width] * weight. `accumulate`: added to grad_x instead.
template <typename T>
void LinearBackwardInput(Matrix<const T> grad_out, Matrix<const T> weight, bool accumulate, Matrix<T> grad_x,
                         int threads);

// grad_weight += grad_out^T * x, over all n rows. `partials` is working memory kept by the caller.
template <typename T>
void LinearBackwardWeight(Matrix<const T> grad_out, Matrix<const T> x, Matrix<T> grad_weight, Buffer<T>& partials,
                          int threads);

// sums[c] += the sum of x's column c, in double.
template <typename T>
void AddColumnSums(Matrix<const T> x, T* sums, int threads);

// The name of the processor that OpenBLAS chose its kernels for at start: "SkylakeX".
std::string ProductKernels();

}  // namespace hone::gnn
