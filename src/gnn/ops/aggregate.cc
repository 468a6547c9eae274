// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See aggregate.h. A pass over an output row adds four source rows. The additions have the same order as with one row
// after the other, and the output row is loaded and stored a quarter as often.
#include "gnn/ops/aggregate.h"

#include <algorithm>
#include <cstring>

#include "gnn/ops/ask_ahead.h"
#include "gnn/ops/parallel.h"
#include "gnn/ops/simd.h"

namespace hone::gnn {
namespace {

template <typename T>
HONE_INLINE_BODY void SumRowsBody(const int32_t* offsets, const int32_t* columns, int32_t num_edges, const T* x,
                                  int64_t x_stride, T* out, int64_t out_stride, int64_t dim, int64_t begin, int64_t end,
                                  bool mean) {
  int32_t prefetched = offsets[begin];  // the rows of the edges below this one have been prefetched
  for (int64_t i = begin; i < end; ++i) {
    T* __restrict out_row = out + i * out_stride;
    const int32_t first = offsets[i];
    const int32_t last = offsets[i + 1];
    if (first == last) {
      std::memset(out_row, 0, static_cast<size_t>(dim) * sizeof(T));
      continue;
    }
    int32_t e = first;
    const int32_t head = (last - first) % 4 == 0 ? 4 : (last - first) % 4;
    AskAhead(x, x_stride, dim, columns, num_edges, e + head, prefetched);
    // The first one to four rows start the sum; the rest comes in groups of four.
    const T* r0 = x + columns[e] * x_stride;
    const T* r1 = head > 1 ? x + columns[e + 1] * x_stride : nullptr;
    const T* r2 = head > 2 ? x + columns[e + 2] * x_stride : nullptr;
    const T* r3 = head > 3 ? x + columns[e + 3] * x_stride : nullptr;
    switch (head) {
      case 1:
        for (int64_t c = 0; c < dim; ++c) out_row[c] = r0[c];
        break;
      case 2:
        for (int64_t c = 0; c < dim; ++c) out_row[c] = r0[c] + r1[c];
        break;
      case 3:
        for (int64_t c = 0; c < dim; ++c) out_row[c] = (r0[c] + r1[c]) + r2[c];
        break;
      default:
        for (int64_t c = 0; c < dim; ++c) out_row[c] = ((r0[c] + r1[c]) + r2[c]) + r3[c];
        break;
    }
    for (e += head; e < last; e += 4) {
      AskAhead(x, x_stride, dim, columns, num_edges, e + 4, prefetched);
      r0 = x + columns[e] * x_stride;
      r1 = x + columns[e + 1] * x_stride;
      r2 = x + columns[e + 2] * x_stride;
      r3 = x + columns[e + 3] * x_stride;
      for (int64_t c = 0; c < dim; ++c) out_row[c] = (((out_row[c] + r0[c]) + r1[c]) + r2[c]) + r3[c];
    }
    if (mean) {
      const T scale = T(1) / static_cast<T>(last - first);
      for (int64_t c = 0; c < dim; ++c) out_row[c] *= scale;
    }
  }
}
#define HONE_SUM_ROWS(T)                                                                                           \
  HONE_VECTORISE(SumRows,                                                                                          \
                 (const int32_t* offsets, const int32_t* columns, int32_t num_edges, const T* x, int64_t x_stride, \
                  T* out, int64_t out_stride, int64_t dim, int64_t begin, int64_t end, bool mean),                 \
                 (offsets, columns, num_edges, x, x_stride, out, out_stride, dim, begin, end, mean))
HONE_SUM_ROWS(float)
HONE_SUM_ROWS(double)

template <typename T>
HONE_INLINE_BODY void MaxRowsBody(const int32_t* offsets, const int32_t* columns, const T* x, int64_t x_stride, T* out,
                                  int64_t out_stride, int32_t* winners, int64_t dim, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    T* __restrict out_row = out + i * out_stride;
    int32_t* __restrict winner_row = winners + i * dim;
    const int32_t first = offsets[i];
    const int32_t last = offsets[i + 1];
    if (first == last) {
      std::fill_n(out_row, dim, T(0));
      std::fill_n(winner_row, dim, -1);
      continue;
    }
    std::copy_n(x + columns[first] * x_stride, dim, out_row);
    std::fill_n(winner_row, dim, columns[first]);
    for (int32_t e = first + 1; e < last; ++e) {
      const int32_t source = columns[e];
      const T* __restrict source_row = x + source * x_stride;
      for (int64_t c = 0; c < dim; ++c) {
        const bool wins = source_row[c] > out_row[c];
        out_row[c] = wins ? source_row[c] : out_row[c];
        winner_row[c] = wins ? source : winner_row[c];
      }
    }
  }
}
#define HONE_MAX_ROWS(T)                                                                                \
  HONE_VECTORISE(MaxRows,                                                                               \
                 (const int32_t* offsets, const int32_t* columns, const T* x, int64_t x_stride, T* out, \
                  int64_t out_stride, int32_t* winners, int64_t dim, int64_t begin, int64_t end),       \
                 (offsets, columns, x, x_stride, out, out_stride, winners, dim, begin, end))
HONE_MAX_ROWS(float)
HONE_MAX_ROWS(double)

// Adds, for each source, the rows of its destinations, times `weights` (by destination; null: all 1).
template <typename T>
HONE_INLINE_BODY void ScatterRowsBody(const int32_t* offsets, const int32_t* destinations, const T* weights,
                                      const T* grad, int64_t grad_stride, T* out, int64_t out_stride, int64_t dim,
                                      int64_t begin, int64_t end) {
  for (int64_t source = begin; source < end; ++source) {
    T* __restrict out_row = out + source * out_stride;
    const int32_t first = offsets[source];
    const int32_t last = offsets[source + 1];
    if (first == last) {
      std::memset(out_row, 0, static_cast<size_t>(dim) * sizeof(T));
      continue;
    }
    for (int32_t e = first; e < last; ++e) {
      const T* __restrict grad_row = grad + destinations[e] * grad_stride;
      const T weight = weights == nullptr ? T(1) : weights[destinations[e]];
      if (e == first) {
        for (int64_t c = 0; c < dim; ++c) out_row[c] = weight * grad_row[c];
      } else {
        for (int64_t c = 0; c < dim; ++c) out_row[c] += weight * grad_row[c];
      }
    }
  }
}
#define HONE_SCATTER_ROWS(T)                                                                                 \
  HONE_VECTORISE(ScatterRows,                                                                                \
                 (const int32_t* offsets, const int32_t* destinations, const T* weights, const T* grad,      \
                  int64_t grad_stride, T* out, int64_t out_stride, int64_t dim, int64_t begin, int64_t end), \
                 (offsets, destinations, weights, grad, grad_stride, out, out_stride, dim, begin, end))
HONE_SCATTER_ROWS(float)
HONE_SCATTER_ROWS(double)

}  // namespace

template <typename T>
void AggregateForward(Aggregation kind, const BlockView& block, Matrix<const T> x, Matrix<T> out, int32_t* max_sources,
                      int threads) {
  const int32_t* offsets = block.row_offsets.data();
  const int32_t* columns = block.columns.data();
  const auto edges = static_cast<int32_t>(block.num_edges());
  ParallelRows(threads, block.num_dst, PieceRows(x.cols * 4), [&](int64_t begin, int64_t end) {
    if (kind == Aggregation::kMax) {
      MaxRows(offsets, columns, x.data, x.stride, out.data, out.stride, max_sources, x.cols, begin, end);
    } else {
      SumRows(offsets, columns, edges, x.data, x.stride, out.data, out.stride, x.cols, begin, end,
              kind == Aggregation::kMean);
    }
  });
}

void BySource(const BlockView& block, SourceMajorBlock& out) {
  const auto num_src = static_cast<size_t>(block.num_src);
  const auto edges = static_cast<size_t>(block.num_edges());
  out.row_offsets.assign(num_src + 1, 0);
  out.destinations.resize(edges);
  out.edges.resize(edges);
  for (size_t e = 0; e < edges; ++e) ++out.row_offsets[static_cast<size_t>(block.columns[e]) + 1];
  for (size_t s = 0; s < num_src; ++s) out.row_offsets[s + 1] += out.row_offsets[s];
  // While a row is filled, its offset moves to the row's end. Afterwards all offsets are shifted back by one.
  for (int32_t i = 0; i < block.num_dst; ++i) {
    for (int32_t e = block.row_offsets[i]; e < block.row_offsets[i + 1]; ++e) {
      const auto at = static_cast<size_t>(out.row_offsets[block.columns[e]]++);
      out.destinations[at] = i;
      out.edges[at] = e;
    }
  }
  for (size_t s = num_src; s > 0; --s) out.row_offsets[s] = out.row_offsets[s - 1];
  out.row_offsets[0] = 0;
}

template <typename T>
void AggregateBackward(Aggregation kind, const BlockView& block, const SourceMajorBlock& by_source,
                       Matrix<const T> grad_out, Matrix<T> grad_x, int threads) {
  std::vector<T> inverse;
  if (kind == Aggregation::kMean) {
    inverse.resize(static_cast<size_t>(block.num_dst));
    for (size_t i = 0; i < inverse.size(); ++i) {
      const int32_t degree = block.row_offsets[i + 1] - block.row_offsets[i];
      inverse[i] = degree == 0 ? T(0) : T(1) / static_cast<T>(degree);
    }
  }
  ParallelRows(threads, block.num_src, PieceRows(grad_x.cols), [&](int64_t begin, int64_t end) {
    ScatterRows(by_source.row_offsets.data(), by_source.destinations.data(),
                kind == Aggregation::kMean ? inverse.data() : nullptr, grad_out.data, grad_out.stride, grad_x.data,
                grad_x.stride, grad_x.cols, begin, end);
  });
}

template <typename T>
void MaxBackward(const BlockView& block, const SourceMajorBlock& by_source, const int32_t* max_sources,
                 Matrix<const T> grad_out, Matrix<T> grad_x, int threads) {
  const int64_t dim = grad_x.cols;
  ParallelRows(threads, block.num_src, PieceRows(dim), [&](int64_t begin, int64_t end) {
    for (int64_t source = begin; source < end; ++source) {
      T* out_row = grad_x.Row(source);
      std::fill_n(out_row, dim, T(0));
      int32_t previous = -1;
      for (int32_t e = by_source.row_offsets[static_cast<size_t>(source)];
           e < by_source.row_offsets[static_cast<size_t>(source) + 1]; ++e) {
        const int32_t destination = by_source.destinations[static_cast<size_t>(e)];
        if (destination == previous) continue;  // a parallel edge, for which the element was already added
        previous = destination;
        const int32_t* winner_row = max_sources + destination * dim;
        const T* grad_row = grad_out.Row(destination);
        for (int64_t c = 0; c < dim; ++c) out_row[c] += winner_row[c] == source ? grad_row[c] : T(0);
      }
    }
  });
}

#define HONE_INSTANTIATE(T)                                                                                           \
  template void AggregateForward<T>(Aggregation, const BlockView&, Matrix<const T>, Matrix<T>, int32_t*, int);        \
  template void AggregateBackward<T>(Aggregation, const BlockView&, const SourceMajorBlock&, Matrix<const T>,         \
                                     Matrix<T>, int);                                                                 \
  template void MaxBackward<T>(const BlockView&, const SourceMajorBlock&, const int32_t*, Matrix<const T>, Matrix<T>, \
                               int);
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)

}  // namespace hone::gnn
