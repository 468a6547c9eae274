// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Normalises each row over its columns (gnn/ops/layer_norm.h) on the GPU, forward and backward, with moments in fp32
// about the row's mean.
//
// x, y and gradients are [rows, padded width] of `element` (fp32 or bf16). Moments are taken over the true width
// `columns`, and the columns past it stay zero. Rows at or past the batch's are left unchanged by forward; in gradients
// they become zero, up to rows.padded_rows. All functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/element.h"
#include "gnn/cuda/base/rows_on_device.h"

namespace hone::gnn::cuda {

// The arguments of a layer normalisation. moments [rows, 2]: the mean and 1 / sqrt(variance + epsilon) of each row,
// which forward writes for backward.
struct LayerNormOnDevice {
  int32_t columns = 0;
  const float* weight = nullptr;  // [padded width]
  const float* bias = nullptr;
  float* moments = nullptr;
};
cudaError_t EnqueueLayerNorm(const RowsOnDevice& rows, Element element, const LayerNormOnDevice& norm, const void* x,
                             void* y, cudaStream_t stream);

// Computes the gradients. grad_x may be grad_y; grad_weight and grad_bias [padded width] are overwritten.
//   partials  LayerNormPartials() floats
int64_t LayerNormPartials(int32_t padded_rows, int32_t width);
cudaError_t EnqueueLayerNormBackward(const RowsOnDevice& rows, Element element, const LayerNormOnDevice& norm,
                                     const void* x, const void* grad_y, void* grad_x, float* grad_weight,
                                     float* grad_bias, float* partials, cudaStream_t stream);

}  // namespace hone::gnn::cuda
