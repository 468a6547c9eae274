// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each thread computes two elements if the width is even.
//
// task: silu_and_mul
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "silu_pairs"
grid   = ["tokens"]
block  = ["128"]
args   = ["x", "out", "d / 2:i32"]
when   = "d % 2 == 0"

[[launch]]
kernel = "silu_scalar"
grid   = ["tokens"]
block  = ["128"]
args   = ["x", "out", "d:i32"]
*/
#include <cuda_fp16.h>

__device__ float Silu(float g) { return g / (1.0f + __expf(-g)); }

__global__ void silu_pairs(const __half2* x, __half2* out, int pairs) {
  const __half2* gates = x + blockIdx.x * 2LL * pairs;
  for (int i = threadIdx.x; i < pairs; i += 128) {
    const float2 g = __half22float2(gates[i]);
    const float2 v = __half22float2(gates[pairs + i]);
    out[static_cast<long long>(blockIdx.x) * pairs + i] = __floats2half2_rn(Silu(g.x) * v.x, Silu(g.y) * v.y);
  }
}

__global__ void silu_scalar(const __half* x, __half* out, int d) {
  const __half* gates = x + blockIdx.x * 2LL * d;
  for (int i = threadIdx.x; i < d; i += 128) {
    const float y = Silu(__half2float(gates[i])) * __half2float(gates[d + i]);
    out[static_cast<long long>(blockIdx.x) * d + i] = __float2half_rn(y);
  }
}
