// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code that the kernels of hop_sums.h share: how a row is read through an activation and dropout, and how the
// gradient comes back through them.
#pragma once

#include "gnn/cuda/base/row_marks.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/kernels/hop_sums.h"

namespace hone::gnn::cuda {

__device__ inline void AddScaled8(float factor, const Float8& x, Float8& to) {
#pragma unroll
  for (int i = 0; i < 8; ++i) to.v[i] += factor * x.v[i];
}
__device__ inline void Multiply8(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}

// Says how rows are read: unchanged, through a function of two slopes, or through elu. Elu is a form of its own because
// its code takes registers that the others need.
enum class HopRowForm { kPlain, kTwoSlopes, kElu };

__device__ inline float SlopeBelow(Activation activation) {
  return activation == Activation::kRelu        ? 0.0f
         : activation == Activation::kLeakyRelu ? static_cast<float>(kLeakySlope)
                                                : 1.0f;
}

// Applies activation and dropout to x, vector `at` of the rows; `kept_bits` is the vector's byte of dropout.
template <HopRowForm kForm>
__device__ inline void ReadThrough8(const HopRowsThrough& through, const Float8& bias, uint32_t kept_bits, int64_t at,
                                    Float8& x) {
  if constexpr (kForm == HopRowForm::kTwoSlopes) {
    const float above = through.scale, below = through.scale * SlopeBelow(through.activation);
    uint32_t mark = kept_bits << 8;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float biased = x.v[i] + bias.v[i];
      if (biased > 0.0f) mark |= 1u << i;
      x.v[i] = (kept_bits >> i & 1u) != 0 ? biased * (biased > 0.0f ? above : below) : 0.0f;
    }
    if (through.marks != nullptr) through.marks[at] = static_cast<RowMark>(mark);
  } else if constexpr (kForm == HopRowForm::kElu) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      x.v[i] =
          (kept_bits >> i & 1u) != 0 ? through.scale * ApplyActivation(Activation::kElu, x.v[i] + bias.v[i]) : 0.0f;
    }
  }
}
// Turns the gradient of what ReadThrough8 made into that of what it read; `mark` is what forward recorded of the
// vector.
template <typename T, HopRowForm kForm>
__device__ inline void BackThrough8(const HopRowsThrough& through, RowMark mark, int64_t at, int32_t vector,
                                    Float8& grad) {
  if constexpr (kForm == HopRowForm::kTwoSlopes) {
    ApplyMark8(through.activation, through.scale, mark, grad);
  } else if constexpr (kForm == HopRowForm::kElu) {
    const uint32_t kept_bits = through.kept != nullptr ? through.kept[at] : 0xffu;
#pragma unroll
    for (int i = 0; i < 8; ++i) grad.v[i] = (kept_bits >> i & 1u) != 0 ? through.scale * grad.v[i] : 0.0f;
    ActivationSlope8(Activation::kElu, through.bias, vector, Load8(static_cast<const T*>(through.rows) + at * 8), grad);
  }
}

}  // namespace hone::gnn::cuda
