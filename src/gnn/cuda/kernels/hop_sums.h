// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aggregates as operations of their own. A model from a file is lowered to them where no fused program of a published
// model applies. Products, activations and masks are other kernels.
//
//   kSum        out[i] = sum over slots of z[source]
//   kMean       kSum divided by the number of slots
//   kMax        the largest over slots, column by column; among equals the first slot wins
//   kSymmetric  graph convolution (gnn/ops/scaled_sum.h): sources times 1 / sqrt(d + 1), their sum times
//               d / (slots * sqrt(d + 1)), plus the node's own row / (d + 1); d is a node's degree in the whole graph
//
// A row without slots gives zero with the first three. Sums are in fp32, and their order depends only on the row's
// slots and width. All functions enqueue on `stream`; widths are multiples of 8; `element` is fp32 or bf16. Output rows
// at or past the batch's are left unchanged; of gradients, they become zero up to `padded_sources`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/nn/kernel_choices.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

enum class HopSum : int32_t { kSum, kMean, kMax, kSymmetric };

// Writes degrees [rows]: the degrees, in the whole graph, of the header's hop_nodes[number] nodes.
cudaError_t EnqueueDegrees(const GraphOnDevice& graph, int number, int32_t rows, const BatchHeader* header,
                           const int32_t* nodes, float* degrees, cudaStream_t stream);

// The operations that are applied to rows as they are read, so that z need not be stored: z = scale * activation(row +
// bias) where dropout keeps it, and 0 elsewhere. The backward pass then gives the gradient of `rows`.
struct HopRowsThrough {
  const void* rows = nullptr;   // [sources, width]; null: the argument z is read as it is
  const float* bias = nullptr;  // [width]; null: none
  Activation activation = Activation::kIdentity;
  const uint8_t* kept = nullptr;  // [sources, width / 8] from EnqueueActivationDropoutBits; null: everything is kept
  float scale = 1;
  // [sources, width / 8], written by forward for backward (row_marks.cuh): a mark of each vector that was read. Elu
  // needs no marks, because backward reads `rows` again. Null: there is no backward pass. Every reader of a row writes
  // the same mark.
  uint16_t* marks = nullptr;
};

// The arguments of an aggregate over an inner hop: its kind, and the inputs that only some kinds have.
struct HopSumCall {
  HopSum kind = HopSum::kSum;
  int number = 0;  // number of the hop
  int32_t width = 0;
  const float* degrees = nullptr;  // for kSymmetric: degrees of all sources
  // [hop.rows, width], for kMax: the slot that won, -1 if the row has none; null: not written.
  int32_t* winners = nullptr;
  HopRowsThrough through = {};
};
// Writes out [hop.rows, width] of `out_element` (z's element, or fp32) from z [at least hop.sources, width]. If
// call.through.rows is set, z is computed from those rows instead. `choice` is an instance that the engine has; it is
// ignored where there are no instances for the call (grouped_hop_sums.h).
cudaError_t EnqueueHopSum(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* z,
                          const BatchHeader* header, Element out_element, void* out, cudaStream_t stream,
                          const SumChoice& choice = {});

// Computes the gradient by source: grad_z [padded_sources, width], overwritten.
//   grad_out [hop.rows, width]
cudaError_t EnqueueHopSumBackward(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* grad_out,
                                  int32_t padded_sources, const BatchHeader* header, void* grad_z, cudaStream_t stream,
                                  const SumChoice& choice = {});

// Draws the outermost hop and aggregates the graph's feature rows in one kernel. For fanouts up to kNarrowFanout the
// kernel occupies a `share` of the multiprocessors; the others are left to concurrent kernels.
//   out [rows, 8 * graph.feature_vectors] of `out_element` (fp32 or bf16)
cudaError_t EnqueueDrawnSum(HopSum kind, const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                            int32_t rows, float share, const RunState* state, const BatchHeader* header,
                            const int32_t* nodes, Element out_element, void* out, cudaStream_t stream);

}  // namespace hone::gnn::cuda
