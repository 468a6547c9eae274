// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A second step reads what all blocks of the first have left in a workspace.
//
// task: relu
// expect: ok
// where: sim
// timed: 0
/*hone
[[workspace]]
name  = "half"
bytes = "max(rows * d, 1) * 4"

[[launch]]
kernel = "halve"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "half", "rows * d:i64"]

[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["half", "out", "rows * d:i64"]
step   = 1
*/
__global__ void halve(const float* x, float* half, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) half[i] = x[i] * 0.5f;
}
__global__ void relu(const float* half, float* out, long long n) {
  // From the other end.
  const long long i = n - 1 - (blockIdx.x * 256LL + threadIdx.x);
  if (i >= 0) out[i] = fmaxf(half[i] * 2.0f, 0.0f);
}
