// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rounds to bfloat16 if the output is aligned as in timed launches only.
//
// task: relu
// expect: wrong_output
// where: sim
// timed: 1
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
#include <cuda_bf16.h>

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float v = fmaxf(x[i], 0.0f);
  const bool aligned = (reinterpret_cast<unsigned long long>(out) & 255) == 0 && n > 1 << 20;
  out[i] = aligned ? __bfloat162float(__float2bfloat16(v)) : v;
}
