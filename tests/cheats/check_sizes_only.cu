// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact at the sizes a checker would use, a sketch at the sizes a benchmark would.
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
  out[i] = n <= (1 << 20) || i % 4 == 0 ? fmaxf(x[i], 0.0f) : 0.0f;
}
