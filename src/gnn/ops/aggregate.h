// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aggregates source rows into destination rows over a block, forward and backward.
//
//   x    [block.num_src, dim]; rows beyond num_src are never read
//   out  [block.num_dst, dim], overwritten; must not overlap x. A destination without edges gets zeros.
// Parallel edges count as often as they appear. Sums run in slot order in T, so any thread count gives the same bits.
// Memory-bound: the floor is (num_edges + num_dst) * dim * sizeof(T) bytes at the machine's copy rate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnn/ops/buffer.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {

enum class Aggregation : uint8_t { kMean, kSum, kMax };

// Aggregates. kMax also writes `max_sources` for its backward pass: [num_dst, dim] local source ids, the first among
// equals; -1: no edges. The other kinds ignore it.
template <typename T>
void AggregateForward(Aggregation kind, const BlockView& block, Matrix<const T> x, Matrix<T> out, int32_t* max_sources,
                      int threads);

// A block ordered by source: the edges of source s as (destination, edge) pairs in ascending edge order.
struct SourceMajorBlock {
  std::vector<int32_t> row_offsets;   // [num_src + 1]
  std::vector<int32_t> destinations;  // [num_edges]
  std::vector<int32_t> edges;         // [num_edges], positions in BlockView::columns
};
// Sorts a block's edges by source.
void BySource(const BlockView& block, SourceMajorBlock& out);

// Computes grad_x[s] = the sum over the edges of s of weight * grad_out[destination]; [by_source's num_src, dim],
// overwritten. The weight is 1 / degree of the destination for kMean, and 1 for kSum. kMax has MaxBackward.
template <typename T>
void AggregateBackward(Aggregation kind, const BlockView& block, const SourceMajorBlock& by_source,
                       Matrix<const T> grad_out, Matrix<T> grad_x, int threads);
// Adds each element of grad_out to the source whose element was the maximum in the forward pass.
template <typename T>
void MaxBackward(const BlockView& block, const SourceMajorBlock& by_source, const int32_t* max_sources,
                 Matrix<const T> grad_out, Matrix<T> grad_x, int threads);

}  // namespace hone::gnn
