// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements activations and sums; see elementwise.h.
#include "gnn/ops/elementwise.h"

#include <algorithm>
#include <cmath>

#include "gnn/ops/parallel.h"
#include "gnn/ops/simd.h"

namespace hone::gnn {
namespace {

template <typename T>
HONE_INLINE_BODY void ForwardRowBody(Activation kind, T* x, int64_t cols) {
  constexpr T kSlope = static_cast<T>(kLeakySlope);
  switch (kind) {
    case Activation::kIdentity:
      break;
    case Activation::kRelu:
      for (int64_t c = 0; c < cols; ++c) x[c] = x[c] > T(0) ? x[c] : T(0);
      break;
    case Activation::kLeakyRelu:
      for (int64_t c = 0; c < cols; ++c) x[c] = x[c] > T(0) ? x[c] : kSlope * x[c];
      break;
    case Activation::kElu:
      for (int64_t c = 0; c < cols; ++c) x[c] = x[c] > T(0) ? x[c] : std::expm1(x[c]);
      break;
  }
}
HONE_VECTORISE(ForwardRow, (Activation kind, float* x, int64_t cols), (kind, x, cols))
HONE_VECTORISE(ForwardRow, (Activation kind, double* x, int64_t cols), (kind, x, cols))

template <typename T>
HONE_INLINE_BODY void BackwardRowBody(Activation kind, T inverse_scale, const T* __restrict out, T* __restrict grad,
                                      int64_t cols) {
  constexpr T kSlope = static_cast<T>(kLeakySlope);
  switch (kind) {
    case Activation::kIdentity:
      break;
    case Activation::kRelu:
      for (int64_t c = 0; c < cols; ++c) grad[c] = out[c] > T(0) ? grad[c] : T(0);
      break;
    case Activation::kLeakyRelu:
      for (int64_t c = 0; c < cols; ++c) grad[c] = out[c] > T(0) ? grad[c] : kSlope * grad[c];
      break;
    case Activation::kElu:
      for (int64_t c = 0; c < cols; ++c) grad[c] = out[c] > T(0) ? grad[c] : grad[c] * (out[c] * inverse_scale + T(1));
      break;
  }
}
HONE_VECTORISE(BackwardRow, (Activation kind, float inverse_scale, const float* out, float* grad, int64_t cols),
               (kind, inverse_scale, out, grad, cols))
HONE_VECTORISE(BackwardRow, (Activation kind, double inverse_scale, const double* out, double* grad, int64_t cols),
               (kind, inverse_scale, out, grad, cols))

}  // namespace

template <typename T>
void ActivationForward(Activation kind, Matrix<T> x, int threads) {
  if (kind == Activation::kIdentity) return;
  ParallelRows(threads, x.rows, PieceRows(x.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ForwardRow(kind, x.Row(i), x.cols);
  });
}

template <typename T>
void ActivationBackward(Activation kind, double out_scale, Matrix<const T> out, Matrix<T> grad, int threads) {
  if (kind == Activation::kIdentity) return;
  ParallelRows(threads, grad.rows, PieceRows(grad.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      BackwardRow(kind, static_cast<T>(1 / out_scale), out.Row(i), grad.Row(i), grad.cols);
  });
}

template <typename T>
void AddTo(Matrix<const T> from, Matrix<T> to, int threads, T factor) {
  ParallelRows(threads, from.rows, PieceRows(to.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* __restrict from_row = from.Row(i);
      T* __restrict to_row = to.Row(i);
      for (int64_t c = 0; c < to.cols; ++c) to_row[c] += factor * from_row[c];
    }
  });
}

template <typename T>
void CopyTo(Matrix<const T> from, Matrix<T> to, int threads) {
  ParallelRows(threads, from.rows, PieceRows(to.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::copy_n(from.Row(i), to.cols, to.Row(i));
  });
}

#define HONE_INSTANTIATE(T)                                       \
  template void AddTo<T>(Matrix<const T>, Matrix<T>, int, T);     \
  template void CopyTo<T>(Matrix<const T>, Matrix<T>, int);       \
  template void ActivationForward<T>(Activation, Matrix<T>, int); \
  template void ActivationBackward<T>(Activation, double, Matrix<const T>, Matrix<T>, int);
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)

}  // namespace hone::gnn
