// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/ops/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "gnn/ops/parallel.h"

namespace hone::gnn {

template <typename T>
void LayerNormForward(Matrix<const T> x, const T* weight, const T* bias, RowMoments& moments, Matrix<T> out,
                      int threads) {
  moments.mean.resize(static_cast<size_t>(x.rows));
  moments.inverse.resize(static_cast<size_t>(x.rows));
  ParallelRows(threads, x.rows, PieceRows(x.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = x.Row(i);
      T* out_row = out.Row(i);
      double mean = 0, squares = 0;
      for (int64_t c = 0; c < x.cols; ++c) mean += static_cast<double>(row[c]);
      mean /= static_cast<double>(x.cols);
      for (int64_t c = 0; c < x.cols; ++c) {
        const double d = static_cast<double>(row[c]) - mean;
        squares += d * d;
      }
      const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(x.cols) + kLayerNormEpsilon);
      moments.mean[static_cast<size_t>(i)] = mean;
      moments.inverse[static_cast<size_t>(i)] = inverse;
      for (int64_t c = 0; c < x.cols; ++c) {
        out_row[c] = static_cast<T>((static_cast<double>(row[c]) - mean) * inverse) * weight[c] + bias[c];
      }
    }
  });
}

template <typename T>
void LayerNormBackward(Matrix<const T> x, const RowMoments& moments, const T* weight, Matrix<T> grad, T* grad_weight,
                       T* grad_bias, int threads) {
  const int64_t cols = x.cols;
  const int64_t piece = PieceRows(cols) * 4;
  const int64_t pieces = (x.rows + piece - 1) / piece;
  std::vector<double> sums(static_cast<size_t>(pieces * 2 * cols), 0.0);  // per piece: gradients of weight and bias
  ParallelFor(threads, pieces, [&](int64_t p) {
    double* weight_sum = sums.data() + p * 2 * cols;
    double* bias_sum = weight_sum + cols;
    for (int64_t i = p * piece; i < std::min(x.rows, (p + 1) * piece); ++i) {
      const T* row = x.Row(i);
      T* grad_row = grad.Row(i);
      const double mean = moments.mean[static_cast<size_t>(i)], inverse = moments.inverse[static_cast<size_t>(i)];
      double total = 0, along = 0;  // sums of grad * weight, and of its product with the normalised row
      for (int64_t c = 0; c < cols; ++c) {
        const double normal = (static_cast<double>(row[c]) - mean) * inverse;
        const auto d = static_cast<double>(grad_row[c]);
        weight_sum[c] += d * normal;
        bias_sum[c] += d;
        const double weighed = d * static_cast<double>(weight[c]);
        total += weighed;
        along += weighed * normal;
      }
      total /= static_cast<double>(cols);
      along /= static_cast<double>(cols);
      for (int64_t c = 0; c < cols; ++c) {
        const double normal = (static_cast<double>(row[c]) - mean) * inverse;
        grad_row[c] = static_cast<T>(
            inverse * (static_cast<double>(grad_row[c]) * static_cast<double>(weight[c]) - total - normal * along));
      }
    }
  });
  for (int64_t c = 0; c < cols; ++c) {
    double weight_sum = 0, bias_sum = 0;
    for (int64_t p = 0; p < pieces; ++p) {
      weight_sum += sums[static_cast<size_t>(p * 2 * cols + c)];
      bias_sum += sums[static_cast<size_t>(p * 2 * cols + cols + c)];
    }
    grad_weight[c] += static_cast<T>(weight_sum);
    grad_bias[c] += static_cast<T>(bias_sum);
  }
}

#define HONE_INSTANTIATE(T)                                                                            \
  template void LayerNormForward<T>(Matrix<const T>, const T*, const T*, RowMoments&, Matrix<T>, int); \
  template void LayerNormBackward<T>(Matrix<const T>, const RowMoments&, const T*, Matrix<T>, T*, T*, int);
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)

}  // namespace hone::gnn
