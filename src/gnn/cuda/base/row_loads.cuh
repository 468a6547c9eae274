// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads eight elements in two parts, first the raw words and later the numbers, so that a thread can have many loads in
// flight before it needs the first. This keeps the memory bus busy where rows are scattered.
#pragma once

#include "gnn/cuda/base/device_math.cuh"

namespace hone::gnn::cuda {

// The raw form of eight elements of T: 16 bytes, or 32 for float.
template <typename T>
struct RawOf {
  uint4 words;
};
template <>
struct RawOf<float> {
  float4 low, high;
};

template <typename T>
__device__ inline RawOf<T> LoadRaw(const T* p) {
  return {__ldg(reinterpret_cast<const uint4*>(p))};
}
template <>
__device__ inline RawOf<float> LoadRaw<float>(const float* p) {
  return {__ldg(reinterpret_cast<const float4*>(p)), __ldg(reinterpret_cast<const float4*>(p) + 1)};
}

__device__ inline Float8 Widen(const RawOf<float>& raw) {
  return {{raw.low.x, raw.low.y, raw.low.z, raw.low.w, raw.high.x, raw.high.y, raw.high.z, raw.high.w}};
}
__device__ inline Float8 Widen(const RawOf<__half>& raw) {
  const uint32_t packed_pairs[4] = {raw.words.x, raw.words.y, raw.words.z, raw.words.w};
  Float8 out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 f = __half22float2(*reinterpret_cast<const __half2*>(&packed_pairs[i]));
    out.v[2 * i] = f.x;
    out.v[2 * i + 1] = f.y;
  }
  return out;
}
__device__ inline Float8 Widen(const RawOf<__nv_bfloat16>& raw) {
  const uint32_t packed_pairs[4] = {raw.words.x, raw.words.y, raw.words.z, raw.words.w};
  Float8 out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out.v[2 * i] = __uint_as_float(packed_pairs[i] << 16);
    out.v[2 * i + 1] = __uint_as_float(packed_pairs[i] & 0xffff0000u);
  }
  return out;
}

}  // namespace hone::gnn::cuda
