// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aggregates as separate operations, to which a model from a file is lowered where no fused program of a published
// model applies. Products, activations and masks are other kernels.
//
//   kSum        out[i] = sum over slots of z[source]
//   kMean       the same over the number of slots
//   kMax        the largest over slots, column by column, the first of equals
//   kSymmetric  graph convolution (gnn/ops/scaled_sum.h): sources times 1 / sqrt(d + 1), the sum times
//               d / (slots * sqrt(d + 1)), and the node's own row over d + 1; d are degrees of the whole graph
//
// Without slots the first three give zero. Sums are in fp32 and their order depends only on the row's slots and width.
// All functions enqueue on `stream`; widths are multiples of 8; `element` is fp32 or bf16. Rows at or past the batch's
// are left unchanged, except in gradients, where they become zero up to `padded_sources`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

enum class HopSum : int32_t { kSum, kMean, kMax, kSymmetric };

// Writes degrees [rows] of the header's hop_nodes[number] nodes, in the whole graph.
cudaError_t EnqueueDegrees(const GraphOnDevice& graph, int number, int32_t rows, const BatchHeader* header,
                           const int32_t* nodes, float* degrees, cudaStream_t stream);

// The operations that are applied to rows as they are read, so that z need not be stored: z is scale * activation(row +
// bias) where dropout keeps it. Backward, gradients become those of `rows`.
struct HopRowsThrough {
  const void* rows = nullptr;   // [sources, width]; null: z are the rows themselves
  const float* bias = nullptr;  // [width]; null: none
  Activation activation = Activation::kIdentity;
  const uint8_t* kept = nullptr;  // [sources, width / 8] from EnqueueKeptBits; null: everything is kept
  float scale = 1;
  // [sources, width / 8] what backward needs of each vector that was read (row_marks.cuh), except for elu, for which it
  // reads `rows` again; null: there is no backward pass. Every reader of a row writes the same mark.
  uint16_t* marks = nullptr;
};

// The arguments of an aggregate over an inner hop: its kind, and the inputs that only some kinds have.
struct HopSumCall {
  HopSum kind = HopSum::kSum;
  int number = 0;  // number of the hop
  int32_t width = 0;
  const float* degrees = nullptr;  // for kSymmetric: degrees of all sources
  // For kMax, [hop.rows, width]: the slot that won, -1 if there is none; null: not written.
  int32_t* winners = nullptr;
  HopRowsThrough through = {};
};
// Writes out [hop.rows, width] of `out_element` (that of z, or fp32) from z [at least hop.sources, width], which is
// call.through's rows if set.
cudaError_t EnqueueHopSum(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* z,
                          const BatchHeader* header, Element out_element, void* out, cudaStream_t stream);

// Computes the gradient by source, grad_z [padded_sources, width], overwritten.
//   grad_out [hop.rows, width]
cudaError_t EnqueueHopSumBackward(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* grad_out,
                                  int32_t padded_sources, const BatchHeader* header, void* grad_z, cudaStream_t stream);

// Draws the outermost hop and aggregates the graph's feature rows in one kernel. For fanouts up to kNarrowFanout it
// runs on a share of the multiprocessors; the others are room for concurrent kernels.
//   out [rows, 8 * graph.feature_vectors] of `out_element` (fp32 or bf16)
cudaError_t EnqueueDrawnSum(HopSum kind, const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                            int32_t rows, float share, const RunState* state, const BatchHeader* header,
                            const int32_t* nodes, Element out_element, void* out, cudaStream_t stream);

}  // namespace hone::gnn::cuda
