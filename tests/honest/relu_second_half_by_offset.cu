// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two launches, the second one through pointers with an offset.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
step   = 0
kernel = "relu"
grid   = ["ceil_div(rows * d / 2, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d / 2:i64"]

[[launch]]
step   = 1
kernel = "relu"
grid   = ["ceil_div(rows * d - rows * d / 2, 256)"]
block  = ["256"]
args   = ["x + rows * d / 2", "out + rows * d / 2", "rows * d - rows * d / 2:i64"]
*/
__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
}
