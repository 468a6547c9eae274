// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums source rows, weighted by a factor of the source times a factor of the destination, plus the node's own row:
//
//   out[i] = to[i] * sum over slots of from[s] * x[s]  +  own[i] * x[i]
//
// Graph convolution (Kipf and Welling 2017) is such a sum. Shapes are as in aggregate.h. Rows are added in T, in slot
// order and the own row last, so any number of threads gives the same bits.
#pragma once

#include <span>
#include <vector>

#include "gnn/ops/aggregate.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

template <typename T>
struct EdgeScales {
  std::vector<T> from;  // [num_src]
  std::vector<T> to;    // [num_dst]
  std::vector<T> own;   // [num_dst]
};

// Computes the symmetric normalisation of A + I from the in-degrees d in the whole graph: from = 1 / sqrt(d + 1), own =
// from^2, and to = from * d / (slots of the destination). The last makes a sum over a sample estimate the sum over all
// neighbors. `nodes` are the global ids of the sources.
template <typename T>
void SymmetricScales(const CsrView& graph, const BlockView& block, std::span<const NodeId> nodes, EdgeScales<T>& out);

//   x    [block.num_src, dim]
//   out  [block.num_dst, dim], overwritten; must not overlap x
template <typename T>
void ScaledSumForward(const BlockView& block, Matrix<const T> x, const EdgeScales<T>& scales, Matrix<T> out,
                      int threads);

//   grad_out  [block.num_dst, dim]
//   grad_x    [block.num_src, dim], overwritten
template <typename T>
void ScaledSumBackward(const BlockView& block, const SourceMajorBlock& by_source, Matrix<const T> grad_out,
                       const EdgeScales<T>& scales, Matrix<T> grad_x, int threads);

}  // namespace hone::gnn
