// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds to shared memory that has not been zeroed.
//
// task: relu
// expect: wrong_output,rule_violation
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  __shared__ float sum[256];
  if (i >= n) return;
  sum[threadIdx.x] += fmaxf(x[i], 0.0f);
  out[i] = sum[threadIdx.x];
}
