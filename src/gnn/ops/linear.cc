// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements dense products; see linear.h.
#include "gnn/ops/linear.h"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <vector>

#include "gnn/ops/parallel.h"

namespace hone::gnn {
namespace {

constexpr int64_t kRowBlock = 256;  // rows of a task; fixed, so that results do not depend on the number of threads
// Limits on the pieces of rows of which each has a partial weight gradient: enough pieces for many cores, few enough
// that the partial gradients are small and cheap to add.
constexpr int64_t kMinPartialRows = 2048;
constexpr int64_t kMaxPartials = 16;
constexpr int64_t kMaxPartialElements = int64_t{8} << 20;
constexpr int64_t kOutBlock = 256;  // rows of the weight's gradient in a task

// Returns a size as an int, the type in which BLAS takes sizes.
int BlasSize(int64_t value) { return static_cast<int>(value); }

// Makes OpenBLAS use one thread while it lives. Otherwise OpenBLAS would spread a product over threads of its own, and
// round depending on their number.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(threads_before_); }

 private:
  int threads_before_ = omp_get_max_threads();  // number of OpenMP threads to restore
};

// Computes C = op(A) op(B) + beta * C with row-major matrices, in the calling thread.
void Gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
          const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  const OneThread one_thread;
  cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
              BlasSize(m), BlasSize(n), BlasSize(k), 1.0f, a, BlasSize(lda), b, BlasSize(ldb), beta, c, BlasSize(ldc));
}
void Gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
          const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  const OneThread one_thread;
  cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
              BlasSize(m), BlasSize(n), BlasSize(k), 1.0, a, BlasSize(lda), b, BlasSize(ldb), beta, c, BlasSize(ldc));
}

}  // namespace

template <typename T>
void LinearForward(Matrix<const T> x, Matrix<const T> weight, const T* bias, bool accumulate, Matrix<T> out,
                   int threads) {
  ParallelRows(threads, x.rows, kRowBlock, [&](int64_t begin, int64_t end) {
    if (bias != nullptr) {
      for (int64_t i = begin; i < end; ++i) {
        T* out_row = out.Row(i);
        for (int64_t c = 0; c < out.cols; ++c) out_row[c] = accumulate ? out_row[c] + bias[c] : bias[c];
      }
    }
    const T beta = accumulate || bias != nullptr ? T(1) : T(0);
    Gemm(/*transpose_a=*/false, /*transpose_b=*/true, end - begin, out.cols, x.cols, x.Row(begin), x.stride,
         weight.data, weight.stride, beta, out.Row(begin), out.stride);
  });
}

template <typename T>
void LinearBackwardInput(Matrix<const T> grad_out, Matrix<const T> weight, bool accumulate, Matrix<T> grad_x,
                         int threads) {
  ParallelRows(threads, grad_out.rows, kRowBlock, [&](int64_t begin, int64_t end) {
    Gemm(/*transpose_a=*/false, /*transpose_b=*/false, end - begin, grad_x.cols, grad_out.cols, grad_out.Row(begin),
         grad_out.stride, weight.data, weight.stride, accumulate ? T(1) : T(0), grad_x.Row(begin), grad_x.stride);
  });
}

template <typename T>
void LinearBackwardWeight(Matrix<const T> grad_out, Matrix<const T> x, Matrix<T> grad_weight, Buffer<T>& partials,
                          int threads) {
  const int64_t rows = grad_out.rows;
  if (rows == 0) return;
  const int64_t weight_size = grad_out.cols * x.cols;
  const int64_t max_pieces =
      std::clamp<int64_t>(kMaxPartialElements / std::max<int64_t>(weight_size, 1), 1, kMaxPartials);
  const int64_t pieces = std::clamp<int64_t>(rows / kMinPartialRows, 1, max_pieces);
  const int64_t piece_rows = (rows + pieces - 1) / pieces;
  const int64_t out_blocks = (grad_out.cols + kOutBlock - 1) / kOutBlock;
  // A single piece adds to the gradient directly; several pieces have separate memory.
  T* sums = pieces == 1 ? grad_weight.data : partials.Resize(pieces * weight_size);
  const int64_t stride = pieces == 1 ? grad_weight.stride : x.cols;
  ParallelFor(threads, pieces * out_blocks, [&](int64_t task) {
    const int64_t piece = task / out_blocks;
    const int64_t first_output = task % out_blocks * kOutBlock;
    const int64_t begin = std::min(rows, piece * piece_rows);
    const int64_t end = std::min(rows, begin + piece_rows);
    // Trailing pieces may be empty; beta 0 then still writes their zeros.
    Gemm(/*transpose_a=*/true, /*transpose_b=*/false, std::min(kOutBlock, grad_out.cols - first_output), x.cols,
         end - begin, grad_out.Row(begin) + first_output, grad_out.stride, x.Row(begin), x.stride,
         pieces == 1 ? T(1) : T(0), sums + piece * weight_size + first_output * stride, stride);
  });
  if (pieces == 1) return;
  ParallelRows(threads, grad_out.cols, PieceRows(x.cols), [&](int64_t begin, int64_t end) {
    for (int64_t piece = 0; piece < pieces; ++piece) {
      for (int64_t o = begin; o < end; ++o) {
        const T* partial = sums + piece * weight_size + o * x.cols;
        T* grad = grad_weight.Row(o);
        for (int64_t i = 0; i < x.cols; ++i) grad[i] += partial[i];
      }
    }
  });
}

template <typename T>
void AddColumnSums(Matrix<const T> x, T* sums, int threads) {
  // Rows of a piece; fixed, so that sums are the same with any number of threads.
  constexpr int64_t kPiece = 1024;
  const int64_t pieces = (x.rows + kPiece - 1) / kPiece;
  std::vector<double> partial(static_cast<size_t>(pieces * x.cols), 0.0);
  ParallelFor(threads, pieces, [&](int64_t p) {
    double* s = partial.data() + p * x.cols;
    for (int64_t i = p * kPiece; i < std::min(x.rows, (p + 1) * kPiece); ++i) {
      const T* row = x.Row(i);
      for (int64_t c = 0; c < x.cols; ++c) s[c] += static_cast<double>(row[c]);
    }
  });
  for (int64_t c = 0; c < x.cols; ++c) {
    double total = 0;
    for (int64_t p = 0; p < pieces; ++p) total += partial[static_cast<size_t>(p * x.cols + c)];
    sums[c] += static_cast<T>(total);
  }
}

#define HONE_INSTANTIATE(T)                                                                            \
  template void LinearForward<T>(Matrix<const T>, Matrix<const T>, const T*, bool, Matrix<T>, int);    \
  template void LinearBackwardInput<T>(Matrix<const T>, Matrix<const T>, bool, Matrix<T>, int);        \
  template void LinearBackwardWeight<T>(Matrix<const T>, Matrix<const T>, Matrix<T>, Buffer<T>&, int); \
  template void AddColumnSums<T>(Matrix<const T>, T*, int);
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)

std::string ProductKernels() { return openblas_get_corename(); }

}  // namespace hone::gnn
