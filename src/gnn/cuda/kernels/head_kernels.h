// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Spreads GAT's per-head weights into one matrix for all heads, and collects the gradient of that weight.
//
//   concatenated  spread [out, heads * in]: row h * head_width + c has W_h's row c in column block h, zeros elsewhere
//   averaged      spread [out, heads * in] = [W_0 | W_1 | …] / heads, out >= head_width
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/element.h"

namespace hone::gnn::cuda {

struct HeadSpread {
  int32_t heads = 1;
  int32_t head_width = 0;  // rows of W_h, without padding
  int32_t in = 0;   // columns of one head, padded
  int32_t out = 0;  // rows, padded; padding rows become zero
  bool concatenates = true;  // false: heads are averaged
};

// Writes `spread` of `element` from weight [heads * head_width, in] fp32.
cudaError_t EnqueueSpreadHeads(const HeadSpread& shape, const float* weight, Element element, void* spread,
                               cudaStream_t stream);
// Computes the gradient of `weight` from the gradient of `spread` (fp32), overwritten.
cudaError_t EnqueueCollectHeads(const HeadSpread& shape, const float* grad_spread, float* grad_weight,
                                cudaStream_t stream);

}  // namespace hone::gnn::cuda
