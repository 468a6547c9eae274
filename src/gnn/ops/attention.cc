// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention over a block; see attention.h.
#include "gnn/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gnn/ops/ask_ahead.h"
#include "gnn/ops/parallel.h"
#include "gnn/ops/simd.h"

namespace hone::gnn {
namespace {

template <typename T>
HONE_INLINE_BODY T LeakyRelu(T value, T slope) {
  return value > T(0) ? value : slope * value;
}

// Returns the dot product. Eight partial sums are added pairwise at the end, which is the same order for every vector
// width.
template <typename T>
HONE_INLINE_BODY T Dot(const T* a, const T* b, int64_t dim) {
  T lanes[8] = {};
  int64_t c = 0;
  for (; c + 8 <= dim; c += 8) {
    for (int k = 0; k < 8; ++k) lanes[k] += a[c + k] * b[c + k];
  }
  for (int k = 0; c + k < dim; ++k) lanes[k] += a[c + k] * b[c + k];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

template <typename T>
struct Task {
  BlockView block;
  Matrix<const T> x;
  Matrix<const T> scores;
  int heads;
  T slope;
  AttentionWeights<T> weights;
};

// Computes the attention weights of destination i in head h: a softmax over the scores of its edges and of itself.
template <typename T>
HONE_INLINE_BODY void SoftmaxOfRow(const Task<T>& task, int64_t i, int head) {
  const int32_t first = task.block.row_offsets[static_cast<size_t>(i)];
  const int32_t last = task.block.row_offsets[static_cast<size_t>(i) + 1];
  const int32_t* columns = task.block.columns.data();
  const T own = task.scores.Row(i)[task.heads + head];
  const T self = LeakyRelu(task.scores.Row(i)[head] + own, task.slope);
  T top = self;
  for (int32_t e = first; e < last; ++e) {
    if (columns[e] == i) continue;
    const T logit = LeakyRelu(task.scores.Row(columns[e])[head] + own, task.slope);
    task.weights.edges[static_cast<int64_t>(e) * task.heads + head] = logit;
    top = std::max(top, logit);
  }
  T total = 0;
  for (int32_t e = first; e < last; ++e) {
    T& weight = task.weights.edges[static_cast<int64_t>(e) * task.heads + head];
    weight = columns[e] == i ? T(0) : std::exp(weight - top);
    total += weight;
  }
  const T self_weight = std::exp(self - top);
  const T inverse = T(1) / (total + self_weight);
  for (int32_t e = first; e < last; ++e) task.weights.edges[static_cast<int64_t>(e) * task.heads + head] *= inverse;
  task.weights.self[i * task.heads + head] = self_weight * inverse;
}

// Prefetches the rows and the scores of later edges.
template <typename T>
HONE_INLINE_BODY void AskForRow(const Task<T>& task, int32_t last, int32_t& prefetched) {
  const auto edges = static_cast<int32_t>(task.block.num_edges());
  int32_t also = prefetched;
  AskAhead(task.scores.data, task.scores.stride, task.scores.cols, task.block.columns.data(), edges, last, also);
  AskAhead(task.x.data, task.x.stride, task.x.cols, task.block.columns.data(), edges, last, prefetched);
}

template <typename T>
HONE_INLINE_BODY void ForwardRowsBody(const Task<T>& task, Matrix<T> out, int64_t begin, int64_t end) {
  const int64_t dim = task.x.cols;
  const int32_t* columns = task.block.columns.data();
  int32_t prefetched = task.block.row_offsets[static_cast<size_t>(begin)];
  for (int64_t i = begin; i < end; ++i) {
    const int32_t first = task.block.row_offsets[static_cast<size_t>(i)];
    const int32_t last = task.block.row_offsets[static_cast<size_t>(i) + 1];
    AskForRow(task, last, prefetched);
    for (int head = 0; head < task.heads; ++head) SoftmaxOfRow(task, i, head);
    for (int head = 0; head < task.heads; ++head) {
      T* __restrict out_row = out.Row(i) + head * dim;
      const T own = task.weights.self[i * task.heads + head];
      const T* __restrict x = task.x.Row(i);
      for (int64_t c = 0; c < dim; ++c) out_row[c] = own * x[c];
      for (int32_t e = first; e < last; ++e) {
        if (columns[e] == i) continue;
        const T weight = task.weights.edges[static_cast<int64_t>(e) * task.heads + head];
        const T* __restrict source_row = task.x.Row(columns[e]);
        for (int64_t c = 0; c < dim; ++c) out_row[c] += weight * source_row[c];
      }
    }
  }
}

// Computes the gradient of each edge's score sum, and of the two scores of each destination that its own row
// contributes.
template <typename T>
HONE_INLINE_BODY void ScoreGradientRowsBody(const Task<T>& task, Matrix<const T> grad_out, T* edge_grads, T* self_grads,
                                            Matrix<T> grad_scores, int64_t begin, int64_t end) {
  const int64_t dim = task.x.cols;
  const int32_t* columns = task.block.columns.data();
  int32_t prefetched = task.block.row_offsets[static_cast<size_t>(begin)];
  for (int64_t i = begin; i < end; ++i) {
    const int32_t first = task.block.row_offsets[static_cast<size_t>(i)];
    const int32_t last = task.block.row_offsets[static_cast<size_t>(i) + 1];
    AskForRow(task, last, prefetched);
    for (int head = 0; head < task.heads; ++head) {
      const T* grad_row = grad_out.Row(i) + head * dim;
      const T own = task.scores.Row(i)[task.heads + head];
      const T self_weight = task.weights.self[i * task.heads + head];
      const T self_product = Dot(grad_row, task.x.Row(i), dim);
      T expected = self_weight * self_product;
      for (int32_t e = first; e < last; ++e) {
        const int64_t at = static_cast<int64_t>(e) * task.heads + head;
        edge_grads[at] = columns[e] == i ? T(0) : Dot(grad_row, task.x.Row(columns[e]), dim);
        expected += task.weights.edges[at] * edge_grads[at];
      }
      T total = 0;
      for (int32_t e = first; e < last; ++e) {
        const int64_t at = static_cast<int64_t>(e) * task.heads + head;
        const T slope_factor = task.scores.Row(columns[e])[head] + own > T(0) ? T(1) : task.slope;
        edge_grads[at] = task.weights.edges[at] * (edge_grads[at] - expected) * slope_factor;
        total += edge_grads[at];
      }
      const T slope_factor = task.scores.Row(i)[head] + own > T(0) ? T(1) : task.slope;
      const T self_grad = self_weight * (self_product - expected) * slope_factor;
      self_grads[i * task.heads + head] = self_grad;
      grad_scores.Row(i)[task.heads + head] = total + self_grad;
    }
  }
}

// Sums, for each source, the gradients of its score and of its row.
template <typename T>
HONE_INLINE_BODY void SourceGradientRowsBody(const Task<T>& task, const SourceMajorBlock& by_source,
                                             Matrix<const T> grad_out, const T* edge_grads, const T* self_grads,
                                             Matrix<T> grad_scores, Matrix<T> grad_x, int64_t begin, int64_t end) {
  const int64_t dim = task.x.cols;
  for (int64_t s = begin; s < end; ++s) {
    const int32_t first = by_source.row_offsets[static_cast<size_t>(s)];
    const int32_t last = by_source.row_offsets[static_cast<size_t>(s) + 1];
    const bool is_destination = s < task.block.num_dst;
    for (int head = 0; head < task.heads; ++head) {
      T sum = is_destination ? self_grads[s * task.heads + head] : T(0);
      for (int32_t k = first; k < last; ++k) {
        sum += edge_grads[static_cast<int64_t>(by_source.edges[static_cast<size_t>(k)]) * task.heads + head];
      }
      grad_scores.Row(s)[head] = sum;
      if (!is_destination) grad_scores.Row(s)[task.heads + head] = T(0);
    }
    if (grad_x.empty()) continue;
    T* __restrict out_row = grad_x.Row(s);
    std::fill_n(out_row, dim, T(0));
    for (int head = 0; head < task.heads; ++head) {
      if (is_destination) {
        const T weight = task.weights.self[s * task.heads + head];
        const T* __restrict grad_row = grad_out.Row(s) + head * dim;
        for (int64_t c = 0; c < dim; ++c) out_row[c] += weight * grad_row[c];
      }
      for (int32_t k = first; k < last; ++k) {
        const T weight =
            task.weights.edges[static_cast<int64_t>(by_source.edges[static_cast<size_t>(k)]) * task.heads + head];
        const T* __restrict grad_row = grad_out.Row(by_source.destinations[static_cast<size_t>(k)]) + head * dim;
        for (int64_t c = 0; c < dim; ++c) out_row[c] += weight * grad_row[c];
      }
    }
  }
}

#define HONE_ATTENTION(T)                                                                                             \
  HONE_VECTORISE(ForwardRows, (const Task<T>& task, Matrix<T> out, int64_t begin, int64_t end),                       \
                 (task, out, begin, end))                                                                             \
  HONE_VECTORISE(ScoreGradientRows,                                                                                   \
                 (const Task<T>& task, Matrix<const T> grad_out, T* edge_grads, T* self_grads, Matrix<T> grad_scores, \
                  int64_t begin, int64_t end),                                                                        \
                 (task, grad_out, edge_grads, self_grads, grad_scores, begin, end))                                   \
  HONE_VECTORISE(                                                                                                     \
      SourceGradientRows,                                                                                             \
      (const Task<T>& task, const SourceMajorBlock& by_source, Matrix<const T> grad_out, const T* edge_grads,         \
       const T* self_grads, Matrix<T> grad_scores, Matrix<T> grad_x, int64_t begin, int64_t end),                     \
      (task, by_source, grad_out, edge_grads, self_grads, grad_scores, grad_x, begin, end))
HONE_ATTENTION(float)
HONE_ATTENTION(double)

}  // namespace

template <typename T>
void AttentionForward(const BlockView& block, Matrix<const T> x, Matrix<const T> scores, int heads, T negative_slope,
                      AttentionWeights<T> weights, Matrix<T> out, int threads) {
  const Task<T> task{block, x, scores, heads, negative_slope, weights};
  ParallelRows(threads, block.num_dst, PieceRows(x.cols * 4),
               [&](int64_t begin, int64_t end) { ForwardRows(task, out, begin, end); });
}

template <typename T>
void AttentionBackward(const BlockView& block, const SourceMajorBlock& by_source, Matrix<const T> x,
                       Matrix<const T> scores, int heads, T negative_slope, AttentionWeights<T> weights,
                       Matrix<const T> grad_out, T* edge_grads, T* self_grads, Matrix<T> grad_scores, Matrix<T> grad_x,
                       int threads) {
  const Task<T> task{block, x, scores, heads, negative_slope, weights};
  ParallelRows(threads, block.num_dst, PieceRows(x.cols * 4), [&](int64_t begin, int64_t end) {
    ScoreGradientRows(task, grad_out, edge_grads, self_grads, grad_scores, begin, end);
  });
  ParallelRows(threads, block.num_src, PieceRows(x.cols), [&](int64_t begin, int64_t end) {
    SourceGradientRows(task, by_source, grad_out, edge_grads, self_grads, grad_scores, grad_x, begin, end);
  });
}

#define HONE_INSTANTIATE(T)                                                                                            \
  template void AttentionForward<T>(const BlockView&, Matrix<const T>, Matrix<const T>, int, T, AttentionWeights<T>,   \
                                    Matrix<T>, int);                                                                   \
  template void AttentionBackward<T>(const BlockView&, const SourceMajorBlock&, Matrix<const T>, Matrix<const T>, int, \
                                     T, AttentionWeights<T>, Matrix<const T>, T*, T*, Matrix<T>, Matrix<T>, int);
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)

}  // namespace hone::gnn
