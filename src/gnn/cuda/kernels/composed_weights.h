// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Multiplies two weights into one, for a Linear whose rows are read by nothing but another product: with rows x and the
// Linear W x + b, the outer weight V gives V (W x + b) = [V W | V b] [x, 1]. All numbers are fp32, and all sums have
// one order. All functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"

namespace hone::gnn::cuda {

struct ComposedWeights {
  int32_t outer = 0;    // rows of V
  int32_t middle = 0;   // columns of V, and rows of W
  int32_t in = 0;       // columns of W, without padding
  int32_t columns = 0;  // of the composed weight: in + 1, padded to a multiple of 8
  const float* outer_weight = nullptr;
  int64_t outer_stride = 0;  // at least `middle`
  const float* inner_weight = nullptr;
  int64_t inner_stride = 0;
  const float* bias = nullptr;  // [middle]; null: zeros
};

// Writes composed [outer, columns]; columns past in + 1 become zero.
cudaError_t EnqueueComposeWeights(const ComposedWeights& weights, float* composed, cudaStream_t stream);

// Computes the gradient of V [outer, outer_stride], overwritten with its padding, from that of `composed`.
cudaError_t EnqueueOuterGradient(const ComposedWeights& weights, const float* grad_composed, float* grad_outer,
                                 cudaStream_t stream);

// Adds the composed weight's part to the gradients of W and, if `grad_bias` is not null, of b.
cudaError_t EnqueueAddInnerGradient(const ComposedWeights& weights, const float* grad_composed, float* grad_inner,
                                    float* grad_bias, cudaStream_t stream);

// Writes out [rows of `number`, columns]: the `width` features of the batch's nodes, then a one, then zeros. `columns`
// is a multiple of 8 above `width`. Rows past the batch's are left unchanged.
cudaError_t EnqueueGatherRowsAndOne(const GraphOnDevice& graph, Element feature_element, int number, int32_t rows,
                                    int32_t width, int32_t columns, const BatchHeader* header, const int32_t* nodes,
                                    Element out_element, void* out, cudaStream_t stream);

}  // namespace hone::gnn::cuda
