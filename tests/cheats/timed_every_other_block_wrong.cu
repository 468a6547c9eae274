// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// At a timed size every other block copies instead of computing.
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
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  out[i] = n > 1 << 22 && blockIdx.x * 2654435761u >> 31 ? v : fmaxf(v, 0.0f);
}
