// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements are numbered in 32 bits with a sign: right at every timed shape, the largest of which has 1.6 * 10^9. The task allows more.
//
// task: gelu_tanh
// expect: crashed,wrong_output
// where: sim
// timed: 0
/*hone
[[launch]]
kernel = "gelu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void gelu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const int i = static_cast<int>(blockIdx.x) * 256 + static_cast<int>(threadIdx.x);
  if (i < elements) out[i] = 0.5f * x[i] * (1.0f + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}
