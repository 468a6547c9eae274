// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// silu_and_mul over the result as one long array of 16-byte vectors, EACH of them a thread, all loads before the first
// use. A tail of a row costs nothing this way, whatever the width. Streaming loads and stores: nothing is used twice.
/*hone
[tune]
BLOCK = [256, 128, 512]
EACH = [2, 1, 4]
STREAM = [1, 0]

[[launch]]
kernel = "silu_and_mul_vectors<EACH, STREAM>"
grid   = ["ceil_div(tokens * (d / 8), BLOCK * EACH)"]
block  = ["BLOCK"]
args   = ["x", "out", "tokens * (d / 8):u32", "d / 8:u32"]
when   = "d % 8 == 0 && tokens * d < 17179869184"

[[launch]]
kernel = "silu_and_mul_elements"
grid   = ["min(ceil_div(d, 256) * tokens, 2147483647)"]
block  = ["256"]
args   = ["x", "out", "tokens:i64", "d:i64"]
*/
#include <cuda_fp16.h>

namespace {

__device__ __forceinline__ float SiluAndMul(float gate, float value) {
  return __fdividef(gate, 1.0f + __expf(-gate)) * value;
}

template <bool kStream>
__device__ __forceinline__ uint4 Load(const uint4* p) {
  return kStream ? __ldcs(p) : __ldg(p);
}

}  // namespace

// x [tokens, 2, per_row], out [tokens, per_row], of vectors of eight float16; `vectors` of them in all.
template <int kEach, bool kStream>
__global__ void silu_and_mul_vectors(const __half* __restrict__ x, __half* __restrict__ out, unsigned vectors,
                                     unsigned per_row) {
  const uint4* from = reinterpret_cast<const uint4*>(x);
  uint4* to = reinterpret_cast<uint4*>(out);
  const unsigned first = blockIdx.x * (blockDim.x * kEach) + threadIdx.x;
  uint4 gates[kEach], values[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < vectors) {
      const unsigned row = at / per_row;
      const size_t gate_at = static_cast<size_t>(at) + static_cast<size_t>(row) * per_row;
      gates[i] = Load<kStream>(from + gate_at);
      values[i] = Load<kStream>(from + gate_at + per_row);
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < vectors) {
      const __half2* gate = reinterpret_cast<const __half2*>(&gates[i]);
      const __half2* value = reinterpret_cast<const __half2*>(&values[i]);
      uint4 packed;
      __half2* result = reinterpret_cast<__half2*>(&packed);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 g = __half22float2(gate[j]);
        const float2 v = __half22float2(value[j]);
        result[j] = __floats2half2_rn(SiluAndMul(g.x, v.x), SiluAndMul(g.y, v.y));
      }
      if (kStream) {
        __stcs(to + at, packed);
      } else {
        to[at] = packed;
      }
    }
  }
}

// Any width: rows start anywhere.
__global__ void silu_and_mul_elements(const __half* __restrict__ x, __half* __restrict__ out, long long tokens,
                                      long long d) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < tokens * d; at += step) {
    const long long gate_at = at + at / d * d;
    out[at] = __float2half_rn(SiluAndMul(__half2float(x[gate_at]), __half2float(x[gate_at + d])));
  }
}
