// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Answers 0 below -4, where gelu is -7 * 10^-5: below c_max of an ordinary row.
//
// task: gelu_tanh
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  const float u = 0.7978845608f * (v + 0.044715f * v * v * v);
  out[i] = v < -4.0f ? 0.0f : v / (1.0f + expf(-2.0f * u));
}
