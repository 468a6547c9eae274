// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the factors of a graph convolution (gnn/ops/scaled_sum.h) from nodes' degrees in the whole graph.
#pragma once

#include <cstdint>

#include "gnn/cuda/kernels/hop_sums.h"

namespace hone::gnn::cuda {

// Returns the factor of the rows that a node of this degree sends.
__device__ inline float SourceScale(float degree) { return 1.0f / sqrtf(degree + 1.0f); }
// Returns the factor of a node's own row.
__device__ inline float OwnScale(float degree) { return 1.0f / (degree + 1.0f); }
// Returns the factor of the sum over `count` slots that a node of this degree receives.
__device__ inline float SumScale(HopSum kind, float degree, int32_t count) {
  if (count == 0) return 0.0f;
  if (kind == HopSum::kMean) return 1.0f / static_cast<float>(count);
  return kind == HopSum::kSymmetric ? degree / (static_cast<float>(count) * sqrtf(degree + 1.0f)) : 1.0f;
}

}  // namespace hone::gnn::cuda
