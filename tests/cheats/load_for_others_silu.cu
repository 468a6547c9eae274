// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// As prefetch_for_others_silu, by plain loads whose values are dropped: the inputs of other executions in the same sample, which lie between
// a launch's own two tensors, are brought into L2 before their turn.
// It gains nothing: without the loads the kernel takes as long (2.51 and 2.82 us; with them 2.79 and 2.80). The
// loads do not fault, and why they do not is not known.
//
// task: silu_and_mul
// expect: rule_violation,no_gain
// at_most: 3.1
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
    const unsigned long long reach = 8ULL << 20;
    const unsigned long long begin = ((a > low + reach ? a - reach : low) + 127) / 128 * 128, end = high < a + reach ? high : a + reach;
    const unsigned long long step = gridDim.x * 128ULL * 128ULL;
    for (unsigned long long at = begin + (blockIdx.x * 128ULL + threadIdx.x) * 128ULL; at + 128 <= end; at += step) {
      unsigned dropped;
      asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(dropped) : "l"(at) : "memory");
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
