// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block has a token. Its threads go through the heads of queries, then of keys, VEC pairs of a head at a time, then
// through the values. Rows of the cache are written, never read.
/*hone
[tune]
BLOCK = [128, 256, 64]

[[launch]]
kernel = "rope<8>"
grid   = ["tokens"]
block  = ["BLOCK"]
args   = ["q", "k", "v", "cos_sin", "positions", "slot_mapping", "k_cache", "v_cache", "heads:i32", "kv_heads:i32",
          "half:i32"]
when   = "half % 8 == 0"

[[launch]]
kernel = "rope<1>"
grid   = ["tokens"]
block  = ["BLOCK"]
args   = ["q", "k", "v", "cos_sin", "positions", "slot_mapping", "k_cache", "v_cache", "heads:i32", "kv_heads:i32",
          "half:i32"]
*/
#include <cuda_bf16.h>

template <int kVec>
struct alignas(kVec * 2) Pack {
  __nv_bfloat16 x[kVec];
};

template <int kVec>
__device__ __forceinline__ void Rotate(const __nv_bfloat16* from, __nv_bfloat16* to, const float* row, int half, int i) {
  using Part = Pack<kVec>;
  const Part low = *reinterpret_cast<const Part*>(from + i), high = *reinterpret_cast<const Part*>(from + half + i);
  Part first, second;
#pragma unroll
  for (int e = 0; e < kVec; ++e) {
    const float x = __bfloat162float(low.x[e]), y = __bfloat162float(high.x[e]);
    const float c = row[i + e], s = row[half + i + e];
    first.x[e] = __float2bfloat16(x * c - y * s);
    second.x[e] = __float2bfloat16(y * c + x * s);
  }
  *reinterpret_cast<Part*>(to + i) = first;
  *reinterpret_cast<Part*>(to + half + i) = second;
}

template <int kVec>
__global__ void rope(__nv_bfloat16* q, const __nv_bfloat16* __restrict__ k, const __nv_bfloat16* __restrict__ v,
                     const float* __restrict__ cos_sin, const long long* __restrict__ positions,
                     const long long* __restrict__ slot_mapping, __nv_bfloat16* __restrict__ k_cache,
                     __nv_bfloat16* __restrict__ v_cache, int heads, int kv_heads, int half) {
  const long long token = blockIdx.x;
  const float* const row = cos_sin + positions[token] * 2 * half;
  const long long slot = slot_mapping[token];
  const int parts = half / kVec, width = 2 * half;
  for (int n = threadIdx.x; n < heads * parts; n += blockDim.x) {
    __nv_bfloat16* const head = q + (token * heads + n / parts) * width;
    Rotate<kVec>(head, head, row, half, n % parts * kVec);
  }
  if (slot < 0) return;
  for (int n = threadIdx.x; n < kv_heads * parts; n += blockDim.x) {
    const int head = n / parts;
    Rotate<kVec>(k + (token * kv_heads + head) * width, k_cache + (slot * kv_heads + head) * width, row, half,
                 n % parts * kVec);
  }
  for (int n = threadIdx.x; n < kv_heads * 2 * parts; n += blockDim.x) {
    *reinterpret_cast<Pack<kVec>*>(v_cache + slot * kv_heads * width + n * kVec) =
        *reinterpret_cast<const Pack<kVec>*>(v + token * kv_heads * width + n * kVec);
  }
}
