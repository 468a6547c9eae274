// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps what backward needs of an activation and of the dropout after it. Forward writes two bits per element: whether
// the activation's input was above zero, and whether dropout kept the output. Two bits suffice for activations whose
// slope has two values.
//
// A mark is 16 bits for eight columns: bit i for input i above zero, bit 8 + i for output i kept.
#pragma once

#include <cstdint>

#include "gnn/cuda/base/row_math.cuh"

namespace hone::gnn::cuda {

using RowMark = uint16_t;

// Applies the activation `kind` and then dropout to x in place, as Activate8 and Drop8 do, and returns the mark.
__device__ inline RowMark ActivateAndMark8(Activation kind, const DropoutKey& dropout, uint32_t node, uint32_t vector,
                                           Float8& x) {
  uint32_t mark = 0xff00u;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (x.v[i] > 0.0f) mark |= 1u << i;
    x.v[i] = ApplyActivation(kind, x.v[i]);
  }
  if (dropout.threshold == 0) return static_cast<RowMark>(mark);
  const PhiloxWords random_words = WordsOf(dropout, node, vector);
  const uint32_t high = dropout.threshold << 16;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const uint32_t word = random_words[static_cast<size_t>(i / 2)];
    if (i % 2 == 0 ? (word & 0xffffu) >= dropout.threshold : word >= high) {
      x.v[i] *= dropout.scale;
    } else {
      x.v[i] = 0.0f;
      mark &= ~(0x100u << i);
    }
  }
  return static_cast<RowMark>(mark);
}

// Multiplies grad by the slopes that the mark encodes; `scale` is dropout's scale of kept elements, 1 without dropout.
__device__ inline void ApplyMark8(Activation kind, float scale, RowMark mark, Float8& grad) {
  const float below = scale * (kind == Activation::kRelu        ? 0.0f
                               : kind == Activation::kLeakyRelu ? static_cast<float>(kLeakySlope)
                                                                : 1.0f);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float slope = (mark & 1u << i) != 0 ? scale : below;
    grad.v[i] = (mark & 0x100u << i) != 0 ? grad.v[i] * slope : 0.0f;
  }
}

}  // namespace hone::gnn::cuda
