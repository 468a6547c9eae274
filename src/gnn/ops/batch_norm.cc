// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation; see batch_norm.h.
#include "gnn/ops/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "gnn/ops/parallel.h"
#include "gnn/ops/simd.h"

namespace hone::gnn {
namespace {

int64_t StatisticsPiece(int64_t cols) { return PieceRows(cols) * 4; }

// Computes mean and sum of squared deviations of rows [begin, end). The rows are read twice, the second time from the
// cache.
template <typename T>
HONE_INLINE_BODY void PieceStatisticsBody(const T* x, int64_t stride, int64_t cols, int64_t begin, int64_t end,
                                          double* mean, double* squares) {
  std::fill_n(mean, cols, 0.0);
  std::fill_n(squares, cols, 0.0);
  for (int64_t i = begin; i < end; ++i) {
    const T* row = x + i * stride;
    for (int64_t c = 0; c < cols; ++c) mean[c] += static_cast<double>(row[c]);
  }
  for (int64_t c = 0; c < cols; ++c) mean[c] /= static_cast<double>(end - begin);
  for (int64_t i = begin; i < end; ++i) {
    const T* row = x + i * stride;
    for (int64_t c = 0; c < cols; ++c) {
      const double d = static_cast<double>(row[c]) - mean[c];
      squares[c] += d * d;
    }
  }
}
#define HONE_PIECE_STATISTICS(T)                                                                             \
  HONE_VECTORISE(                                                                                            \
      PieceStatistics,                                                                                       \
      (const T* x, int64_t stride, int64_t cols, int64_t begin, int64_t end, double* mean, double* squares), \
      (x, stride, cols, begin, end, mean, squares))
HONE_PIECE_STATISTICS(float)
HONE_PIECE_STATISTICS(double)

template <typename T>
HONE_INLINE_BODY void AffineRowBody(const T* x, const T* shift, const T* scale, const T* bias, T* out, int64_t cols) {
  for (int64_t c = 0; c < cols; ++c) out[c] = (x[c] - shift[c]) * scale[c] + bias[c];
}
HONE_VECTORISE(AffineRow,
               (const float* x, const float* shift, const float* scale, const float* bias, float* out, int64_t cols),
               (x, shift, scale, bias, out, cols))
HONE_VECTORISE(AffineRow,
               (const double* x, const double* shift, const double* scale, const double* bias, double* out,
                int64_t cols),
               (x, shift, scale, bias, out, cols))

// Computes the sums of grad and of grad * (x - mean) over rows [begin, end).
template <typename T>
HONE_INLINE_BODY void GradientSumsBody(const T* x, int64_t x_stride, const T* grad, int64_t grad_stride,
                                       const double* mean, int64_t cols, int64_t begin, int64_t end, double* sum,
                                       double* product) {
  for (int64_t i = begin; i < end; ++i) {
    const T* row = x + i * x_stride;
    const T* grad_row = grad + i * grad_stride;
    for (int64_t c = 0; c < cols; ++c) {
      const auto gradient = static_cast<double>(grad_row[c]);
      sum[c] += gradient;
      product[c] += gradient * (static_cast<double>(row[c]) - mean[c]);
    }
  }
}
#define HONE_GRADIENT_SUMS(T)                                                                                         \
  HONE_VECTORISE(GradientSums,                                                                                        \
                 (const T* x, int64_t x_stride, const T* grad, int64_t grad_stride, const double* mean, int64_t cols, \
                  int64_t begin, int64_t end, double* sum, double* product),                                          \
                 (x, x_stride, grad, grad_stride, mean, cols, begin, end, sum, product))
HONE_GRADIENT_SUMS(float)
HONE_GRADIENT_SUMS(double)

// Computes grad = grad * a + (x - mean) * b + k for one row.
template <typename T>
HONE_INLINE_BODY void GradientRowBody(const T* __restrict x, T* __restrict grad, const T* mean, const T* a, const T* b,
                                      const T* k, int64_t cols) {
  for (int64_t c = 0; c < cols; ++c) grad[c] = grad[c] * a[c] + (x[c] - mean[c]) * b[c] + k[c];
}
HONE_VECTORISE(GradientRow,
               (const float* x, float* grad, const float* mean, const float* a, const float* b, const float* k,
                int64_t cols),
               (x, grad, mean, a, b, k, cols))
HONE_VECTORISE(GradientRow,
               (const double* x, double* grad, const double* mean, const double* a, const double* b, const double* k,
                int64_t cols),
               (x, grad, mean, a, b, k, cols))

}  // namespace

template <typename T>
void ComputeColumnStatistics(Matrix<const T> x, ColumnStatistics& out, int threads) {
  const auto cols = static_cast<size_t>(x.cols);
  const int64_t piece = StatisticsPiece(x.cols);
  const int64_t pieces = (x.rows + piece - 1) / piece;
  std::vector<double> mean(cols * static_cast<size_t>(pieces));
  std::vector<double> squares(mean.size());
  ParallelFor(threads, pieces, [&](int64_t p) {
    PieceStatistics(x.data, x.stride, x.cols, p * piece, std::min(x.rows, (p + 1) * piece), mean.data() + p * x.cols,
                    squares.data() + p * x.cols);
  });
  out.rows = x.rows;
  out.mean.assign(cols, 0.0);
  out.variance.assign(cols, 0.0);
  double rows_seen = 0;
  for (int64_t p = 0; p < pieces; ++p) {
    const auto count = static_cast<double>(std::min(x.rows, (p + 1) * piece) - p * piece);
    const double total = rows_seen + count;
    for (size_t c = 0; c < cols; ++c) {
      const size_t at = static_cast<size_t>(p) * cols + c;
      const double delta = mean[at] - out.mean[c];
      out.mean[c] += delta * (count / total);
      out.variance[c] += squares[at] + delta * delta * (rows_seen * count / total);
    }
    rows_seen = total;
  }
  for (size_t c = 0; c < cols && x.rows > 0; ++c) out.variance[c] /= rows_seen;
}

template <typename T>
void UpdateRunningStatistics(const ColumnStatistics& batch, T* running_mean, T* running_variance) {
  if (batch.rows < 2) return;
  const auto n = static_cast<double>(batch.rows);
  const auto blend = [](T& running, double value) {
    running = static_cast<T>((1 - kBatchNormMomentum) * static_cast<double>(running) + kBatchNormMomentum * value);
  };
  for (size_t c = 0; c < batch.mean.size(); ++c) {
    blend(running_mean[c], batch.mean[c]);
    blend(running_variance[c], batch.variance[c] * n / (n - 1));
  }
}

template <typename T>
void BatchNormForward(Matrix<const T> x, const ColumnStatistics& statistics, const T* weight, const T* bias,
                      Matrix<T> out, int threads) {
  const auto cols = static_cast<size_t>(x.cols);
  std::vector<T> shift(cols), scale(cols);
  for (size_t c = 0; c < cols; ++c) {
    shift[c] = static_cast<T>(statistics.mean[c]);
    scale[c] = static_cast<T>(static_cast<double>(weight[c]) / std::sqrt(statistics.variance[c] + kBatchNormEpsilon));
  }
  ParallelRows(threads, x.rows, PieceRows(x.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      AffineRow(x.Row(i), shift.data(), scale.data(), bias, out.Row(i), x.cols);
    }
  });
}

template <typename T>
void BatchNormBackward(Matrix<const T> x, const ColumnStatistics& statistics, bool through_statistics, const T* weight,
                       Matrix<T> grad, T* grad_weight, T* grad_bias, int threads) {
  const auto cols = static_cast<size_t>(x.cols);
  const int64_t piece = StatisticsPiece(x.cols);
  const int64_t pieces = (x.rows + piece - 1) / piece;
  std::vector<double> sums(cols * static_cast<size_t>(pieces), 0.0);
  std::vector<double> products(sums.size(), 0.0);
  ParallelFor(threads, pieces, [&](int64_t p) {
    GradientSums(x.data, x.stride, grad.data, grad.stride, statistics.mean.data(), x.cols, p * piece,
                 std::min(x.rows, (p + 1) * piece), sums.data() + p * x.cols, products.data() + p * x.cols);
  });
  std::vector<T> mean(cols), a(cols), b(cols), k(cols);
  const auto n = static_cast<double>(x.rows);
  for (size_t c = 0; c < cols; ++c) {
    double sum = 0;
    double product = 0;
    for (size_t p = 0; p < static_cast<size_t>(pieces); ++p) {
      sum += sums[p * cols + c];
      product += products[p * cols + c];
    }
    const double inverse = 1.0 / std::sqrt(statistics.variance[c] + kBatchNormEpsilon);
    const double scale = static_cast<double>(weight[c]) * inverse;
    grad_weight[c] += static_cast<T>(product * inverse);
    grad_bias[c] += static_cast<T>(sum);
    mean[c] = static_cast<T>(statistics.mean[c]);
    a[c] = static_cast<T>(scale);
    b[c] = through_statistics ? static_cast<T>(-scale * inverse * inverse * product / n) : T(0);
    k[c] = through_statistics ? static_cast<T>(-scale * sum / n) : T(0);
  }
  ParallelRows(threads, x.rows, PieceRows(x.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      GradientRow(x.Row(i), grad.Row(i), mean.data(), a.data(), b.data(), k.data(), x.cols);
    }
  });
}

#define HONE_INSTANTIATE(T)                                                                                        \
  template void ComputeColumnStatistics<T>(Matrix<const T>, ColumnStatistics&, int);                               \
  template void UpdateRunningStatistics<T>(const ColumnStatistics&, T*, T*);                                       \
  template void BatchNormForward<T>(Matrix<const T>, const ColumnStatistics&, const T*, const T*, Matrix<T>, int); \
  template void BatchNormBackward<T>(Matrix<const T>, const ColumnStatistics&, bool, const T*, Matrix<T>, T*, T*, int);
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)

}  // namespace hone::gnn
