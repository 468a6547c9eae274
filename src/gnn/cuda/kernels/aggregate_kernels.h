// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aggregation over a sampled hop for every model but GraphSAGE's common case and GAT: sum or mean of the neighbors
// beside or plus the node's own row, with bias, activation and two dropout masks applied as rows are read.
//
// gather_kernels.h is the same for mean, ReLU and one mask, and what GraphSAGE's step was measured with; fanouts above
// kNarrowFanout, and the maximum, are wide_aggregate_kernels.h's.
// All functions enqueue on `stream`; widths are multiples of 8; `element` is fp32 or bf16. Sums run
// in slot order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/kernels/gather_kernels.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

// What becomes of the rows that a destination reads: f(z) = activation(z + bias), then a mask of its own for what
// neighbors send and for the node itself.
struct AggregateInput {
  const void* z = nullptr;      // [hop.sources, width]
  const float* bias = nullptr;  // [width]; null: none
  Activation activation = Activation::kIdentity;
  ActivationOnLoad neighbors, self;
};

struct AggregateKind {
  bool mean = false;            // of the neighbors; otherwise their sum
  bool adds_self = false;       // one block, neighbors + (1 + eps) * self; otherwise [neighbors | self]
  const float* eps = nullptr;   // device; null: 0
};

// out [hop.rows, width] or [hop.rows, 2 * width]. Rows past the batch's size are left as they are.
cudaError_t EnqueueAggregate(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                             const AggregateInput& input, int32_t width, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, void* out, cudaStream_t stream);

// Gradients that reach a source past the aggregation; null where there are none.
struct DirectGradients {
  const void* destinations = nullptr;  // [hop.rows, width]: of f(z), rows that are destinations too
  const void* seeds = nullptr;         // [seeds, stride]: likewise, of the batch's seeds
  int64_t seeds_stride = 0;            // in elements, a multiple of 8: rows are read 16 bytes at a time
};

// Gradient of the above, by source: grad_z [padded_sources, width], overwritten; zero in rows at or past the batch's.
//   grad_out [hop.rows, width or 2 * width]
cudaError_t EnqueueAggregateBackward(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                                     const AggregateInput& input, int32_t width, int32_t padded_sources,
                                     const void* grad_out, const DirectGradients& direct, const RunState* state,
                                     const BatchHeader* header, const int32_t* nodes, void* grad_z,
                                     cudaStream_t stream);

// The outermost hop, fused with the drawing of it, as EnqueueSampleMean but for any kind. Rows are the graph's
// features: a destination's own after the mask `input_mask` (keyed like every mask by the node), and then `self`; what
// neighbors send after `neighbors` alone, which has to stand for both masks on its way (DropoutRate::Then).
//   out        [rows, 8 * feature_vectors], or twice as wide
//   input_rows [rows, 8 * feature_vectors] the destinations' own rows after `input_mask` alone; null: not wanted
struct SampleAggregate {
  AggregateKind kind;
  ActivationOnLoad input_mask, neighbors, self;
  void* out = nullptr;
  void* input_rows = nullptr;
  // Of the multiprocessors, how much the kernel may take, which it keeps to the end; the rest is room for a chain of
  // small kernels beside it. Half of an H200's read nearly as fast as all.
  float share = 1;
};
cudaError_t EnqueueSampleAggregate(const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                                   int32_t rows, const SampleAggregate& aggregate, const RunState* state,
                                   const BatchHeader* header, const int32_t* nodes, Element out_element,
                                   cudaStream_t stream);

}  // namespace hone::gnn::cuda
