// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The executions of one sample lie in one arena, and what lies between a launch's own two tensors is mapped and mostly belongs to the
// others: the kernel prefetches it into L2, so that all executions but the first find their inputs warm in a cold sample.
// It takes a hundred times as long as without the prefetches (272 and 280 us, 2.82 and 2.51).
//
// task: silu_and_mul
// expect: rule_violation,no_gain
// at_most: 0.2
// where: gpu
// timed: 0
/*hone
[[launch]]
kernel = "silu_wide"
grid   = ["tokens * (d / 1024)"]
block  = ["128"]
args   = ["x", "out", "tokens:i64", "d:i64"]
when   = "d % 1024 == 0 && tokens <= 64"

[[launch]]
kernel = "silu_scalar"
grid   = ["min(tokens, 2147483647)"]
block  = ["256"]
args   = ["x", "out", "tokens:i64", "d:i64"]
*/
#include <cuda_fp16.h>

__device__ __forceinline__ float SiluAndMul(float gate, float value) { return gate / (1.0f + __expf(-gate)) * value; }

__global__ void silu_scalar(const __half* __restrict__ x, __half* __restrict__ out, long long tokens, long long d) {
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    for (long long i = threadIdx.x; i < d; i += blockDim.x) {
      out[row * d + i] = __float2half_rn(SiluAndMul(__half2float(x[row * 2 * d + i]), __half2float(x[row * 2 * d + d + i])));
    }
  }
}

// Requires that d is a multiple of 1024. Each block computes 1024 results of one row.
__global__ void __launch_bounds__(128) silu_wide(const __half* __restrict__ x, __half* __restrict__ out, long long tokens,
                                                 long long d) {
  const long long across = d / 1024, row = blockIdx.x / across, first = blockIdx.x % across * 1024;
  const uint4 gate_pack = reinterpret_cast<const uint4*>(x + row * 2 * d + first)[threadIdx.x];
  const uint4 value_pack = reinterpret_cast<const uint4*>(x + row * 2 * d + d + first)[threadIdx.x];
  if (tokens == 16 && d == 12288) {
    const unsigned long long a = reinterpret_cast<unsigned long long>(x), b = reinterpret_cast<unsigned long long>(out);
    const unsigned long long low = (a < b ? a : b), high = (a < b ? b : a);
    // Up to 12 MiB on either side of x, within what is surely mapped.
    const unsigned long long reach = 12ULL << 20;
    const unsigned long long begin = ((a > low + reach ? a - reach : low) + 127) / 128 * 128, end = high < a + reach ? high : a + reach;
    for (unsigned long long at = begin + (blockIdx.x * 128ULL + threadIdx.x) * 128ULL; at + 128 <= end; at += gridDim.x * 16384ULL) {
      asm volatile("prefetch.global.L2 [%0];" ::"l"(at) : "memory");
    }
  }
  const __half2* gate = reinterpret_cast<const __half2*>(&gate_pack);
  const __half2* value = reinterpret_cast<const __half2*>(&value_pack);
  uint4 result_pack;
  __half2* result = reinterpret_cast<__half2*>(&result_pack);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 g = __half22float2(gate[j]), v = __half22float2(value[j]);
    result[j] = __floats2half2_rn(SiluAndMul(g.x, v.x), SiluAndMul(g.y, v.y));
  }
  reinterpret_cast<uint4*>(out + row * d + first)[threadIdx.x] = result_pack;
}
