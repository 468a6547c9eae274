// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes graph attention (Velickovic et al. 2018) over a sampled hop on the GPU, forward and backward. As in
// ops/attention.h on the CPU, attention is linear in the rows, so it is applied to rows that are not projected yet.
//
//   folded[h]          = W_h^T att_src_h,   folded[heads + h] = W_h^T att_dst_h            (EnqueueFoldAttention)
//   logit of j -> i, h = leaky_relu(folded[h] . x_j + folded[heads + h] . x_i)
//   out[i, h]          = sum of alpha_h(j -> i) x_j over the drawn j other than i, and once over i itself
//
// The product with W_h comes after, over destinations only, as an ordinary matrix product. Hence one kernel serves both
// kinds of hops: inner hops, whose rows are pre-activations that are activated and dropped as they are read
// (gather_kernels.h), and the outermost hop, whose rows are the graph's features. Rows of up to 256 columns are read
// once per head, because softmax and sum are computed together.
//
// Backward first runs by destination. That pass makes the gradients of logits, and the gradient of `folded` as partial
// sums over a fixed share of the destinations, joined in order. Then backward runs by source, along the structure that
// EnqueueBySource sorted. No sum's order depends on the launch, on timing or on the envelope, so results repeat to the
// bit.
//
// Dropout's bits are made once (EnqueueDropoutBits). With relu, the forward pass records which elements passed both
// relu and dropout, so that the gradient of z is computed without reading z.
//
// All functions enqueue on `stream`. Widths are multiples of 8, heads 1 to 64. Rows past the batch's size are never
// read, whatever they hold; an invalid batch has no rows.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/kernels/gather_kernels.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

struct AttentionShape {
  int32_t width = 0;  // columns of x, padding included
  int32_t heads = 1;
  float negative_slope = 0.2f;
};

// The rows that a kernel reads, x = dropout(f(z)), where f is the activation.
struct AttentionInput {
  const void* z = nullptr;  // [hop.sources, width]
  Activation activation = Activation::kRelu;
  const uint8_t* kept = nullptr;  // [hop.sources, width / 8] from EnqueueDropoutBits; null: no dropout
  float scale = 1;                // factor of kept elements
};

// The global ids that the outermost hop has drawn, kept for its backward pass.
struct OuterHopOnDevice {
  int32_t fanout = 0;
  int32_t rows = 0;              // largest number of destinations
  int32_t* neighbors = nullptr;  // [rows * fanout]; -1 past a row's count
  int32_t* counts = nullptr;     // [rows]
};

// The attention weights alpha that forward leaves for backward. The sign says on which side of leaky_relu the logit
// was: -alpha if the logit before leaky_relu was not above zero.
struct AttentionWeightsOnDevice {
  float* slots = nullptr;  // [rows * fanout, heads]; 0 for a slot that names its own destination
  float* self = nullptr;   // [rows, heads]
  // [hop.sources, width / 8], for an inner hop with relu: one bit per element that passes relu and dropout. Otherwise
  // null.
  uint8_t* passes = nullptr;
};

// The workspace of a backward pass, and the partial sums of `folded`'s gradient before they are joined.
struct AttentionGradients {
  float* slots = nullptr;     // [rows * fanout, heads] gradients of the slots' logits, before leaky_relu
  float* self = nullptr;      // [rows, 2 * heads] gradients of the node's logit with itself, and of its score as a
                              // destination
  float* partials = nullptr;  // AttentionPartials() floats, for EnqueueJoinFolded
};
// Returns the number of floats in `partials` for an envelope of `rows` destinations.
int64_t AttentionPartials(int32_t rows, const AttentionShape& shape);

// A layer's attention weights, to be folded. One launch folds all layers, at most kMaxHopsOnDevice.
struct FoldedLayer {
  AttentionShape shape;
  int32_t head_width = 0;
  const float* weight = nullptr;   // fp32 [heads * head_width, weight_stride]: row h * head_width + c is W_h's row c
  int64_t weight_stride = 0;       // in floats; only columns below shape.width are used
  const float* att_src = nullptr;  // [heads * head_width]
  const float* att_dst = nullptr;
  float* folded = nullptr;  // [2 * heads, shape.width], overwritten
};
cudaError_t EnqueueFoldAttention(std::span<const FoldedLayer> layers, cudaStream_t stream);

// The gradient of a layer's `folded`, from the partial sums that its backward pass left.
struct FoldedGradient {
  AttentionShape shape;
  int hop = 0;  // number of the hop
  const float* partials = nullptr;
  float* folded = nullptr;  // [2 * heads, shape.width], overwritten
};
cudaError_t EnqueueJoinFolded(std::span<const FoldedGradient> layers, const BatchHeader* header, cudaStream_t stream);

// Computes the gradients of the parameters. grad_att_src and grad_att_dst become W grad_folded. grad_weight gets att
// times grad_folded added, so this must follow the product that overwrites grad_weight.
struct UnfoldedLayer {
  FoldedLayer forward;
  const float* grad_folded = nullptr;
  float* grad_weight = nullptr;
  float* grad_att_src = nullptr;
  float* grad_att_dst = nullptr;
};
cudaError_t EnqueueUnfoldAttention(std::span<const UnfoldedLayer> layers, cudaStream_t stream);

// The bits of ops/dropout.h for the header's hop_nodes[number] nodes, eight columns per byte: bit i is column 2i, bit 4
// + i is column 2i + 1. One launch makes the bits of all layers, at most kMaxHopsOnDevice.
struct MaskedLayer {
  DropoutOnLoad mask;
  int number = 0;
  int32_t rows = 0;  // largest number of rows
  int32_t width = 0;
  uint8_t* kept = nullptr;  // [rows, width / 8]
};
cudaError_t EnqueueDropoutBits(std::span<const MaskedLayer> layers, const RunState* state, const BatchHeader* header,
                               const int32_t* nodes, cudaStream_t stream);

// Computes inner hop `number`: writes out [hop.rows, heads * width], with head h from column h * width on, and
// `weights`.
cudaError_t EnqueueAttention(const HopOnDevice& hop, int number, const AttentionShape& shape, const float* folded,
                             Element element, const AttentionInput& input, const BatchHeader* header,
                             const AttentionWeightsOnDevice& weights, void* out, cudaStream_t stream);

// Computes the gradient of an inner hop; EnqueueBySource must come before.
//   grad_out            [hop.rows, heads * width]
//   grad_z              [padded_sources, width], overwritten: the gradient through the sum and through the logits;
//                       zero in rows at or past the batch's sources
//   gradients.partials  written: partial sums over the batch's rows
cudaError_t EnqueueAttentionBackward(const HopOnDevice& hop, int number, const AttentionShape& shape,
                                     const float* folded, Element element, const AttentionInput& input,
                                     const BatchHeader* header, const AttentionWeightsOnDevice& weights,
                                     const void* grad_out, int32_t padded_sources, const AttentionGradients& gradients,
                                     void* grad_z, cudaStream_t stream);

// The outermost hop takes two calls. Drawing depends on no weight, so it may overlap with the training of the previous
// batch. Attention depends on the update by that batch.
//
// Draws outer.fanout neighbors of each of the header's hop_nodes[number] nodes (sample/draw.h) and keeps their ids.
cudaError_t EnqueueDrawNeighbors(const GraphOnDevice& graph, int number, const OuterHopOnDevice& outer,
                                 const RunState* state, const BatchHeader* header, const int32_t* nodes,
                                 cudaStream_t stream);

// Attends to the feature rows of the drawn nodes. shape.width = 8 * graph.feature_vectors.
//   out  [outer.rows, heads * width] of `out_element` (fp32 or bf16)
//   one  if not below zero: the number of features; the rows are [x, 1] then, features followed by a one and by zeros,
//        and shape.width is that number plus one, rounded up to a multiple of 8
cudaError_t EnqueueFeatureAttention(const GraphOnDevice& graph, Element feature_element, int number,
                                    const OuterHopOnDevice& outer, const AttentionShape& shape, const float* folded,
                                    const BatchHeader* header, const int32_t* nodes,
                                    const AttentionWeightsOnDevice& weights, Element out_element, void* out,
                                    cudaStream_t stream, int32_t one = -1);

// Writes the gradient of `folded` to gradients.partials, for which it reads the same rows again. gradients.slots and
// gradients.self are scratch.
//   grad_out  [outer.rows, heads * width] of `grad_element` (fp32 or bf16)
cudaError_t EnqueueFeatureAttentionBackward(const GraphOnDevice& graph, Element feature_element, int number,
                                            const OuterHopOnDevice& outer, const AttentionShape& shape,
                                            const BatchHeader* header, const int32_t* nodes,
                                            const AttentionWeightsOnDevice& weights, Element grad_element,
                                            const void* grad_out, const AttentionGradients& gradients,
                                            cudaStream_t stream, int32_t one = -1);

}  // namespace hone::gnn::cuda
