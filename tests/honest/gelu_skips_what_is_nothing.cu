// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes no exponential if the result is the input or zero.
//
// task: gelu_tanh
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "honest"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void honest(const float* x, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  const float u = 0.7978845608f * (v + 0.044715f * v * v * v);
  out[i] = v > 12.0f ? v : v < -12.0f ? -0.0f : v / (1.0f + expf(-2.0f * u));
}
