// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies 48 bytes, some of them past the end of the input.
//
// task: relu
// expect: crashed
// where: sim
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
  float near[12];
  memcpy(near, x + i, 48);
  out[i] = fmaxf(near[0], 0.0f);
}
