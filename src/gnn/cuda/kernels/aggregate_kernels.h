// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aggregates over a sampled hop, for every model except GraphSAGE's common case and GAT: sum or mean of the neighbors
// next to or plus the node's own row, with bias, activation and two dropout masks applied as rows are read.
//
// gather_kernels.h does the same for mean, ReLU and one mask, GraphSAGE's common case; wide_aggregate_kernels.h does
// fanouts above kNarrowFanout, and the maximum. All functions enqueue on `stream`; widths are multiples of 8; `element`
// is fp32 or bf16. Sums run in slot order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/kernels/gather_kernels.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

// Rows that a destination reads: f(z) = activation(z + bias), then separate masks for what neighbors send and for the
// node itself.
struct AggregateInput {
  const void* z = nullptr;      // [hop.sources, width]
  const float* bias = nullptr;  // [width]; null: none
  Activation activation = Activation::kIdentity;
  DropoutOnLoad neighbors, self;
};

struct AggregateKind {
  bool mean = false;            // mean of the neighbors; otherwise their sum
  bool adds_self = false;       // one block, neighbors + (1 + eps) * self; otherwise [neighbors | self]
  const float* eps = nullptr;   // device; null: 0
};

// Writes out [hop.rows, width] or [hop.rows, 2 * width]. Rows past the batch's size are left unchanged.
cudaError_t EnqueueAggregate(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                             const AggregateInput& input, int32_t width, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, void* out, cudaStream_t stream);

// Gradients that reach a source without passing through the aggregation; null: none.
struct DirectGradients {
  const void* destinations = nullptr;  // [hop.rows, width]: gradients of f(z) for rows that are destinations too
  const void* seeds = nullptr;         // [seeds, stride]: the same for the batch's seeds
  int64_t seeds_stride = 0;            // in elements, a multiple of 8: rows are read 16 bytes at a time
};

// Computes the gradient by source: grad_z [padded_sources, width], overwritten; zero in rows at or past the batch's.
//   grad_out [hop.rows, width or 2 * width]
cudaError_t EnqueueAggregateBackward(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                                     const AggregateInput& input, int32_t width, int32_t padded_sources,
                                     const void* grad_out, const DirectGradients& direct, const RunState* state,
                                     const BatchHeader* header, const int32_t* nodes, void* grad_z,
                                     cudaStream_t stream);

// The outermost hop, fused with its drawing, as EnqueueSampleMean but for any kind. Rows are the graph's features: a
// destination's own row goes through the mask `input_mask` (keyed like every mask by the node), and then `self`; what
// neighbors send goes through `neighbors` alone, which must combine both masks (DropoutRate::Then).
//   out        [rows, 8 * feature_vectors], or twice as wide
//   input_rows [rows, 8 * feature_vectors] the destinations' own rows after `input_mask` alone; null: not written
struct SampleAggregate {
  AggregateKind kind;
  DropoutOnLoad input_mask, neighbors, self;
  void* out = nullptr;
  void* input_rows = nullptr;
  // Share of the multiprocessors that the kernel occupies until its end; the rest is room for a concurrent chain of
  // small kernels. Half of an H200's read nearly as fast as all.
  float share = 1;
};
cudaError_t EnqueueSampleAggregate(const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                                   int32_t rows, const SampleAggregate& aggregate, const RunState* state,
                                   const BatchHeader* header, const int32_t* nodes, Element out_element,
                                   cudaStream_t stream);

}  // namespace hone::gnn::cuda
