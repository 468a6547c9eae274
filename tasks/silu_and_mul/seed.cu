// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// silu_and_mul as one would write it first: a block a row, eight float16 a load where every half row starts
// on a 16-byte boundary, arithmetic in float.
/*hone
[tune]
BLOCK = [256, 128, 512, 1024]

[[launch]]
kernel = "silu_and_mul_vector"
grid   = ["min(tokens, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "tokens:i64", "d:i64"]
when   = "d % 8 == 0"

[[launch]]
kernel = "silu_and_mul_scalar"
grid   = ["min(tokens, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "tokens:i64", "d:i64"]
*/
#include <cuda_fp16.h>

__device__ __forceinline__ float SiluAndMul(float gate, float value) {
  return gate / (1.0f + __expf(-gate)) * value;
}

// d is a multiple of 8.
__global__ void silu_and_mul_vector(const __half* __restrict__ x, __half* __restrict__ out, long long tokens,
                                    long long d) {
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    const uint4* gates = reinterpret_cast<const uint4*>(x + row * 2 * d);
    const uint4* values = reinterpret_cast<const uint4*>(x + row * 2 * d + d);
    uint4* results = reinterpret_cast<uint4*>(out + row * d);
    for (long long i = threadIdx.x; i < d / 8; i += blockDim.x) {
      const uint4 gate_pack = gates[i];
      const uint4 value_pack = values[i];
      const __half2* gate = reinterpret_cast<const __half2*>(&gate_pack);
      const __half2* value = reinterpret_cast<const __half2*>(&value_pack);
      uint4 result_pack;
      __half2* result = reinterpret_cast<__half2*>(&result_pack);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 g = __half22float2(gate[j]);
        const float2 v = __half22float2(value[j]);
        result[j] = __floats2half2_rn(SiluAndMul(g.x, v.x), SiluAndMul(g.y, v.y));
      }
      results[i] = result_pack;
    }
  }
}

__global__ void silu_and_mul_scalar(const __half* __restrict__ x, __half* __restrict__ out, long long tokens,
                                    long long d) {
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    for (long long i = threadIdx.x; i < d; i += blockDim.x) {
      const float gate = __half2float(x[row * 2 * d + i]);
      const float value = __half2float(x[row * 2 * d + d + i]);
      out[row * d + i] = __float2half_rn(SiluAndMul(gate, value));
    }
  }
}
