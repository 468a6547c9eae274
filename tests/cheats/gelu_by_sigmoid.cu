// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the popular approximation x * sigmoid(1.702 x).
//
// task: gelu_tanh
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "gelu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void gelu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + expf(-1.702f * x[i]));
}
