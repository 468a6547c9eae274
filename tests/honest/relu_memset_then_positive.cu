// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Zeroes the output by a memset step, then writes the positive elements only.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[memset]]
step   = 0
target = "out"
value  = 0

[[launch]]
kernel = "positive"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
step   = 1
*/
__global__ void positive(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n && x[i] > 0.0f) out[i] = x[i];
}
