// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes graph attention over an inner hop whose rows were projected first, z = W x, forward and backward.
//
//   logit of j -> i, h = leaky_relu(att_src_h . z_j[h] + att_dst_h . z_i[h])
//   out[i, h]          = sum of alpha_h(j -> i) z_j[h] over the drawn j other than i, and once over i itself
//
// z[h] are the columns of head h, head_width from h * head_width on. attention_kernels.h computes the same by sums of
// rows that are not projected yet, whose product comes after. That takes one product over destinations, which are few,
// but its sums have a row of x for each head. With several heads the product over all sources costs less than that.
//
// A warp handles a destination, and a lane eight columns of one head. Every sum has one order, whatever the envelope:
// that of slots within a row, that of a warp's rows, a block's warps, and the blocks, whose number is fixed.
//
// All functions enqueue on `stream`. `element` is fp32 or bf16. Rows past the batch's size are never read.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/kernels/attention_kernels.h"

namespace hone::gnn::cuda {

// SpecUnit::projected (nn/spec_units.h) says which shapes the kernels have.
struct ProjectedAttention {
  int number = 0;  // number of the hop
  int32_t heads = 1, head_width = 8;
  float negative_slope = 0.2f;
  const float* att_src = nullptr;  // [heads * head_width]
  const float* att_dst = nullptr;
  const void* z = nullptr;           // [hop.sources, heads * head_width]
  AttentionWeightsOnDevice weights;  // `passes` is not used
};

// Writes out [hop.rows, heads * head_width] and attention.weights.
cudaError_t EnqueueProjectedAttention(const ProjectedAttention& attention, const HopOnDevice& hop, Element element,
                                      const BatchHeader* header, void* out, cudaStream_t stream);

// Returns the number of floats in AttentionGradients::partials.
int64_t ProjectedAttentionPartials(const ProjectedAttention& attention);

// Computes the gradient; EnqueueBySource must come before.
//   grad_out   [hop.rows, heads * head_width]
//   gradients  slots, self and partials are scratch
//   grad_z     [padded_sources, heads * head_width], overwritten; zero in rows at or past the batch's sources
//   grad_att_src, grad_att_dst  [heads * head_width], overwritten
cudaError_t EnqueueProjectedAttentionBackward(const ProjectedAttention& attention, const HopOnDevice& hop,
                                              Element element, const BatchHeader* header, const void* grad_out,
                                              int32_t padded_sources, const AttentionGradients& gradients, void* grad_z,
                                              float* grad_att_src, float* grad_att_dst, cudaStream_t stream);

}  // namespace hone::gnn::cuda
