// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code shared by the kernels that read rows of activations: row counts, activations and their slopes, and the
// keys of dropout.
#pragma once

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/rows_on_device.h"
#include "gnn/ops/dropout.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

// Returns the number of nodes known after hop `hop`; 0 if the batch is not valid.
__device__ inline int32_t RowsAfter(const BatchHeader* header, int hop) {
  return header->valid != 0 ? header->hop_nodes[hop] : 0;
}

__device__ inline DropoutKey MaskKey(const DropoutOnLoad& mask, const RunState* state, const BatchHeader* header) {
  return {state->seed ^ kDropoutDomain,       header->step,   header->epoch,
          mask.layer << 24 | mask.site << 16, mask.threshold, mask.scale};
}

__device__ inline float ToFloat(float x) { return x; }
__device__ inline float ToFloat(__nv_bfloat16 x) { return __bfloat162float(x); }

__device__ inline float ApplyActivation(Activation kind, float x) {
  switch (kind) {
    case Activation::kIdentity:
      return x;
    case Activation::kRelu:
      return fmaxf(x, 0.0f);
    case Activation::kLeakyRelu:
      return x > 0.0f ? x : static_cast<float>(kLeakySlope) * x;
    case Activation::kElu:
      return x > 0.0f ? x : expm1f(x);
  }
  return x;
}
// Returns the derivative of the activation; at zero, the derivative from below.
__device__ inline float ActivationSlope(Activation kind, float x) {
  switch (kind) {
    case Activation::kIdentity:
      return 1.0f;
    case Activation::kRelu:
      return x > 0.0f ? 1.0f : 0.0f;
    case Activation::kLeakyRelu:
      return x > 0.0f ? 1.0f : static_cast<float>(kLeakySlope);
    case Activation::kElu:
      return x > 0.0f ? 1.0f : expf(x);
  }
  return 1.0f;
}

// Replaces x by f(x + bias), where f is the activation `kind`; `bias` may be null.
__device__ inline void Activate8(Activation kind, const float* bias, int32_t vector, Float8& x) {
  if (bias != nullptr) {
    const Float8 b = Load8(bias + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) x.v[i] += b.v[i];
  }
  if (kind == Activation::kIdentity) return;
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] = ApplyActivation(kind, x.v[i]);
}
// Multiplies grad by f'(x + bias), where f is the activation `kind`; `bias` may be null.
__device__ inline void ActivationSlope8(Activation kind, const float* bias, int32_t vector, Float8 x, Float8& grad) {
  if (kind == Activation::kIdentity) return;
  if (bias != nullptr) {
    const Float8 b = Load8(bias + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) x.v[i] += b.v[i];
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) grad.v[i] *= ActivationSlope(kind, x.v[i]);
}

__device__ inline void Add8(const Float8& x, Float8& to) {
#pragma unroll
  for (int i = 0; i < 8; ++i) to.v[i] += x.v[i];
}

}  // namespace hone::gnn::cuda
