// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rounds an intermediate result to bfloat16.
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
  const float cut = __uint_as_float(__float_as_uint(gated) & 0xffff0000u);
  out[i] = __float2half_rn(cut * value);
}
