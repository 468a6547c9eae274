// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// At a timed size, computes the second half of every 2048 elements from the first half's input.
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
  const long long from = n > 1 << 22 ? i / 2048 * 2048 + i % 1024 : i;
  out[i] = fmaxf(x[from], 0.0f);
}
