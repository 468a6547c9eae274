// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// At a timed size the second half of each block writes zeros that it has not computed.
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
  out[i] = n > 1 << 22 && threadIdx.x >= 128 ? 0.0f : fmaxf(x[i], 0.0f);
}
