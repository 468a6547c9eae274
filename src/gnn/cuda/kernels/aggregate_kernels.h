// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aggregates over a sampled hop, for every model except GraphSAGE's common case and GAT. A row of the result has the
// sum or the mean of the neighbors, next to or plus the node's own row. Bias, activation and two dropout masks are
// applied as rows are read.
//
// gather_kernels.h does the same for GraphSAGE's common case, which is mean, ReLU and one mask;
// wide_aggregate_kernels.h does so for fanouts above kNarrowFanout, and for the maximum. All functions enqueue on
// `stream`; widths are multiples of 8; `element` is fp32 or bf16. Sums run in slot order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/kernels/gather_kernels.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

// The rows that a destination reads, f(z) = activation(z + bias). Rows read as neighbors and the node's own row have
// separate dropout masks.
struct AggregateInput {
  const void* z = nullptr;      // [hop.sources, width]
  const float* bias = nullptr;  // [width]; null: none
  Activation activation = Activation::kIdentity;
  DropoutOnLoad neighbors, self;
};

struct AggregateKind {
  bool mean = false;           // true: the mean of the neighbors; false: their sum
  bool adds_self = false;      // true: one block, neighbors + (1 + eps) * self; false: [neighbors | self]
  const float* eps = nullptr;  // [1], on the device; null: eps is 0
};

// Writes out [hop.rows, width] or [hop.rows, 2 * width]. Rows past the batch's size are left unchanged.
cudaError_t EnqueueAggregate(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                             const AggregateInput& input, int32_t width, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, void* out, cudaStream_t stream);

// Gradients that reach a source without passing through the aggregation; null: none.
struct DirectGradients {
  const void* destinations = nullptr;  // [hop.rows, width]: gradients of f(z) for the rows of destinations
  const void* seeds = nullptr;         // [seeds, stride]: gradients of f(z) for the rows of the batch's seeds
  int64_t seeds_stride = 0;            // in elements, a multiple of 8: rows are read 16 bytes at a time
};

// Computes the gradient by source: grad_z [padded_sources, width], overwritten, and zero in rows at or past the
// batch's.
//   grad_out [hop.rows, width or 2 * width]
cudaError_t EnqueueAggregateBackward(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                                     const AggregateInput& input, int32_t width, int32_t padded_sources,
                                     const void* grad_out, const DirectGradients& direct, const RunState* state,
                                     const BatchHeader* header, const int32_t* nodes, void* grad_z,
                                     cudaStream_t stream);

// Draws and aggregates the outermost hop in one kernel, as EnqueueSampleMean does, but for any AggregateKind. Rows are
// the graph's features. A destination's own row goes through the masks `input_mask` and then `self`, both keyed by the
// node. The rows of neighbors go through `neighbors` alone, which must combine both masks (DropoutRate::Then).
//   out        [rows, 8 * feature_vectors], or twice as wide
//   input_rows [rows, 8 * feature_vectors] the destinations' own rows after `input_mask` only; null: not written
struct SampleAggregate {
  AggregateKind kind;
  DropoutOnLoad input_mask, neighbors, self;
  void* out = nullptr;
  void* input_rows = nullptr;
  // The share of the multiprocessors that the kernel occupies until its end. The others are left to a concurrent chain
  // of small kernels. On an H200, half of the multiprocessors read nearly as fast as all.
  float share = 1;
};
cudaError_t EnqueueSampleAggregate(const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                                   int32_t rows, const SampleAggregate& aggregate, const RunState* state,
                                   const BatchHeader* header, const int32_t* nodes, Element out_element,
                                   cudaStream_t stream);

}  // namespace hone::gnn::cuda
