// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/ops/scaled_sum.h"

#include <algorithm>
#include <cmath>

#include "gnn/ops/ask_ahead.h"
#include "gnn/ops/parallel.h"
#include "gnn/ops/simd.h"
#include "hone/base/status.h"

namespace hone::gnn {
namespace {

// Computes rows `begin` to `end` of a sum. Each neighbor's row of x is multiplied by its `weights`, and the sum by
// scale[i]. For i < num_own, own[i] times row i of x is added.
template <typename T>
HONE_INLINE_BODY void WeighedRowsBody(const int32_t* offsets, const int32_t* neighbors, int32_t num_edges,
                                      const T* weights, const T* x, int64_t x_stride, const T* scale, const T* own,
                                      int64_t num_own, T* out, int64_t out_stride, int64_t dim, int64_t begin,
                                      int64_t end) {
  int32_t asked = offsets[begin];
  for (int64_t i = begin; i < end; ++i) {
    T* __restrict out_row = out + i * out_stride;
    const int32_t first = offsets[i];
    const int32_t last = offsets[i + 1];
    for (int64_t c = 0; c < dim; ++c) out_row[c] = T(0);
    for (int32_t e = first; e < last; ++e) {
      AskAhead(x, x_stride, dim, neighbors, num_edges, e + 1, asked);
      const T* __restrict source_row = x + neighbors[e] * x_stride;
      const T weight = weights[neighbors[e]];
      for (int64_t c = 0; c < dim; ++c) out_row[c] += weight * source_row[c];
    }
    const T row_scale = scale[i];
    if (i < num_own) {
      const T* __restrict source_row = x + i * x_stride;
      const T weight = own[i];
      for (int64_t c = 0; c < dim; ++c) out_row[c] = row_scale * out_row[c] + weight * source_row[c];
    } else {
      for (int64_t c = 0; c < dim; ++c) out_row[c] *= row_scale;
    }
  }
}
#define HONE_WEIGHED_ROWS(T)                                                                                     \
  HONE_VECTORISE(                                                                                                \
      WeighedRows,                                                                                               \
      (const int32_t* offsets, const int32_t* neighbors, int32_t num_edges, const T* weights, const T* x,        \
       int64_t x_stride, const T* scale, const T* own, int64_t num_own, T* out, int64_t out_stride, int64_t dim, \
       int64_t begin, int64_t end),                                                                              \
      (offsets, neighbors, num_edges, weights, x, x_stride, scale, own, num_own, out, out_stride, dim, begin, end))
HONE_WEIGHED_ROWS(float)
HONE_WEIGHED_ROWS(double)

}  // namespace

template <typename T>
void SymmetricScales(const CsrView& graph, const BlockView& block, std::span<const NodeId> nodes, EdgeScales<T>& out) {
  const auto sources = static_cast<size_t>(block.num_src), destinations = static_cast<size_t>(block.num_dst);
  HONE_CHECK(nodes.size() >= sources, "degrees are looked up by the global id of every source");
  out.from.resize(sources);
  out.to.resize(destinations);
  out.own.resize(destinations);
  for (size_t source = 0; source < sources; ++source) {
    const double degree = static_cast<double>(graph.Degree(nodes[source]));
    const double factor = 1.0 / std::sqrt(degree + 1.0);
    out.from[source] = static_cast<T>(factor);
    if (source >= destinations) continue;
    const int32_t slots = block.row_offsets[source + 1] - block.row_offsets[source];
    out.to[source] = static_cast<T>(slots == 0 ? 0.0 : factor * (degree / slots));
    out.own[source] = static_cast<T>(1.0 / (degree + 1.0));
  }
}

template <typename T>
void ScaledSumForward(const BlockView& block, Matrix<const T> x, const EdgeScales<T>& scales, Matrix<T> out,
                      int threads) {
  ParallelRows(threads, block.num_dst, PieceRows(x.cols * 4), [&](int64_t begin, int64_t end) {
    WeighedRows(block.row_offsets.data(), block.columns.data(), static_cast<int32_t>(block.num_edges()),
                scales.from.data(), x.data, x.stride, scales.to.data(), scales.own.data(), block.num_dst, out.data,
                out.stride, x.cols, begin, end);
  });
}

// Computes the same sum in the other direction: for each source, the destinations' rows times `to`, and the sum times
// `from`.
template <typename T>
void ScaledSumBackward(const BlockView& block, const SourceMajorBlock& by_source, Matrix<const T> grad_out,
                       const EdgeScales<T>& scales, Matrix<T> grad_x, int threads) {
  ParallelRows(threads, block.num_src, PieceRows(grad_x.cols), [&](int64_t begin, int64_t end) {
    WeighedRows(by_source.row_offsets.data(), by_source.destinations.data(), static_cast<int32_t>(block.num_edges()),
                scales.to.data(), grad_out.data, grad_out.stride, scales.from.data(), scales.own.data(), block.num_dst,
                grad_x.data, grad_x.stride, grad_x.cols, begin, end);
  });
}

#define HONE_INSTANTIATE(T)                                                                                            \
  template void SymmetricScales<T>(const CsrView&, const BlockView&, std::span<const NodeId>, EdgeScales<T>&);         \
  template void ScaledSumForward<T>(const BlockView&, Matrix<const T>, const EdgeScales<T>&, Matrix<T>, int);          \
  template void ScaledSumBackward<T>(const BlockView&, const SourceMajorBlock&, Matrix<const T>, const EdgeScales<T>&, \
                                     Matrix<T>, int);
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)

}  // namespace hone::gnn
