// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rounds to bfloat16 at large sizes only.
//
// task: relu
// expect: wrong_output
// where: gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float v = fmaxf(x[i], 0.0f);
  out[i] = n <= (1 << 20) ? v : __uint_as_float(__float_as_uint(v) & 0xffff0000u);
}
