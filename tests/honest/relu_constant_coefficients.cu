// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Coefficients in constant memory, read by index.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__constant__ float low[2] = {0.0f, -1.0f};
__constant__ const float slope[2] = {1.0f, 0.0f};

__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const int negative = x[i] <= 0.0f;
  out[i] = fmaxf(x[i] * slope[negative], low[0]);
}
