// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes attention over a block: a softmax of edge scores, and the weighted sum of raw source rows.
//
// The projection is linear, so it may follow the sum: W * (sum of alpha * x) replaces the sum of alpha * (W * x). A
// block has far fewer destinations than sources, so projected sources and their gradients need not be stored.
//   scores  [num_src, 2 * heads]: a node's scores as a source (first heads) and as a destination (last heads)
//   logit of edge j -> i, head h = leaky_relu(scores[j, h] + scores[i, heads + h])
// Destination i attends to its neighbors except itself, and once to itself, whatever edges i -> i there are.
#pragma once

#include <cstdint>

#include "gnn/ops/aggregate.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {

template <typename T>
struct AttentionWeights {
  T* edges = nullptr;  // [num_edges, heads]; 0 where an edge comes from its own destination
  T* self = nullptr;   // [num_dst, heads]
};

//   x    [num_src, dim]; rows beyond num_src are never read
//   out  [num_dst, heads * dim], overwritten: head h's weighted sum from column h * dim on
template <typename T>
void AttentionForward(const BlockView& block, Matrix<const T> x, Matrix<const T> scores, int heads, T negative_slope,
                      AttentionWeights<T> weights, Matrix<T> out, int threads);

//   grad_out     [num_dst, heads * dim]
//   edge_grads   [num_edges, heads] and self_grads [num_dst, heads]: workspace
//   grad_scores  [num_src, 2 * heads], overwritten
//   grad_x       [num_src, dim], overwritten with the gradient through the weighted sum (not through the scores);
//                empty(): not computed
template <typename T>
void AttentionBackward(const BlockView& block, const SourceMajorBlock& by_source, Matrix<const T> x,
                       Matrix<const T> scores, int heads, T negative_slope, AttentionWeights<T> weights,
                       Matrix<const T> grad_out, T* edge_grads, T* self_grads, Matrix<T> grad_scores, Matrix<T> grad_x,
                       int threads);

}  // namespace hone::gnn
