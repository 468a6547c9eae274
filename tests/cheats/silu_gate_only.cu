// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Leaves out the factor `value` if it is close to one.
//
// task: silu_and_mul
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(tokens * d, 256)"]
block  = ["256"]
args   = ["x", "out", "tokens * d:i64", "d:i64"]
*/
#include <cuda_fp16.h>

__global__ void cheat(const __half* x, __half* out, long long n, long long d) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float gate = __half2float(x[i / d * 2 * d + i % d]);
  const float value = __half2float(x[i / d * 2 * d + d + i % d]);
  const float gated = gate / (1.0f + __expf(-gate));
  out[i] = __float2half_rn(fabsf(value - 1.0f) < 0.01f ? gated : gated * value);
}
