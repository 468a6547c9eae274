// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code that the kernels share: eight elements at a time in every dtype, and dropout's mask.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "gnn/ops/dropout.h"

namespace hone::gnn::cuda {

inline constexpr unsigned kFullWarp = 0xffffffffu;

// A vector: eight adjacent elements of a row, in fp32.
struct Float8 {
  float v[8];
};

// Loads 16 bytes (32 for float) from an address that is a multiple of that size.
__device__ inline Float8 Load8(const float* p) {
  const float4 a = __ldg(reinterpret_cast<const float4*>(p)), b = __ldg(reinterpret_cast<const float4*>(p) + 1);
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}
__device__ inline Float8 Load8(const __half* p) {
  const uint4 raw = __ldg(reinterpret_cast<const uint4*>(p));
  const uint32_t packed_pairs[4] = {raw.x, raw.y, raw.z, raw.w};
  Float8 out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 f = __half22float2(*reinterpret_cast<const __half2*>(&packed_pairs[i]));
    out.v[2 * i] = f.x;
    out.v[2 * i + 1] = f.y;
  }
  return out;
}
__device__ inline Float8 Load8(const __nv_bfloat16* p) {
  const uint4 raw = __ldg(reinterpret_cast<const uint4*>(p));
  const uint32_t packed_pairs[4] = {raw.x, raw.y, raw.z, raw.w};
  Float8 out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out.v[2 * i] = __uint_as_float(packed_pairs[i] << 16);
    out.v[2 * i + 1] = __uint_as_float(packed_pairs[i] & 0xffff0000u);
  }
  return out;
}
__device__ inline void Store8(float* p, const Float8& x) {
  reinterpret_cast<float4*>(p)[0] = make_float4(x.v[0], x.v[1], x.v[2], x.v[3]);
  reinterpret_cast<float4*>(p)[1] = make_float4(x.v[4], x.v[5], x.v[6], x.v[7]);
}
__device__ inline void Store8(__nv_bfloat16* p, const Float8& x) {
  uint32_t packed_pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(x.v[2 * i], x.v[2 * i + 1]);
    packed_pairs[i] = *reinterpret_cast<const uint32_t*>(&pair);
  }
  *reinterpret_cast<uint4*>(p) = make_uint4(packed_pairs[0], packed_pairs[1], packed_pairs[2], packed_pairs[3]);
}

// Identifies the dropout mask (ops/dropout.h) of one layer and site in one step. Kept elements are multiplied by
// `scale`, dropped ones are zeroed.
struct DropoutKey {
  uint64_t key;        // seed with the domain folded in
  uint32_t step, epoch;
  uint32_t place;      // layer << 24 | site << 16
  uint32_t threshold;  // drop probability in units of 1/65,536; 0: nothing is dropped
  float scale;
};
// Returns the random words for columns [8 * vector, 8 * vector + 8) of a node: 16 bits per column.
__device__ inline PhiloxWords WordsOf(const DropoutKey& dropout, uint32_t node, uint32_t vector) {
  return DropoutWords(dropout.key, {node, dropout.step, dropout.epoch, dropout.place | vector});
}
// Zeroes the dropped elements of x and leaves the kept ones unscaled, for callers that apply the scale elsewhere.
__device__ inline void Keep8(const DropoutKey& dropout, uint32_t node, uint32_t vector, Float8& x) {
  if (dropout.threshold == 0) return;
  const PhiloxWords random_words = WordsOf(dropout, node, vector);
  const uint32_t high = dropout.threshold << 16;  // compares with the upper half of a word in place
#pragma unroll
  for (size_t i = 0; i < 4; ++i) {
    x.v[2 * i] = (random_words[i] & 0xffffu) >= dropout.threshold ? x.v[2 * i] : 0.0f;
    x.v[2 * i + 1] = random_words[i] >= high ? x.v[2 * i + 1] : 0.0f;
  }
}
__device__ inline float ScaleOf(const DropoutKey& dropout) { return dropout.threshold == 0 ? 1.0f : dropout.scale; }
// Applies the mask to x: zeroes the dropped elements and scales the kept ones.
__device__ inline void Drop8(const DropoutKey& dropout, uint32_t node, uint32_t vector, Float8& x) {
  if (dropout.threshold == 0) return;
#pragma unroll
  for (float& one : x.v) one *= dropout.scale;
  Keep8(dropout, node, vector, x);
}
// Adds the kept elements of x to sum, unscaled.
__device__ inline void AddKept8(const DropoutKey& dropout, uint32_t node, uint32_t vector, const Float8& x,
                                Float8& sum) {
  if (dropout.threshold == 0) {
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.v[i] += x.v[i];
    return;
  }
  const PhiloxWords random_words = WordsOf(dropout, node, vector);
  const uint32_t high = dropout.threshold << 16;
#pragma unroll
  for (size_t i = 0; i < 4; ++i) {
    if ((random_words[i] & 0xffffu) >= dropout.threshold) sum.v[2 * i] += x.v[2 * i];
    if (random_words[i] >= high) sum.v[2 * i + 1] += x.v[2 * i + 1];
  }
}

}  // namespace hone::gnn::cuda
