// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Leaves out the mean, which is near zero anyway on normal inputs.
//
// task: layernorm
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "layernorm"
grid   = ["d > 0 ? rows : 0"]
block  = ["32"]
args   = ["x", "weight", "bias", "out", "d:i64", "eps:f32"]
*/
__global__ void layernorm(const float* x, const float* weight, const float* bias, float* out, long long d, float eps) {
  const float* row = x + blockIdx.x * d;
  float squares = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 32) squares += row[i] * row[i];
  for (int k = 16; k > 0; k /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, k);
  const float scale = rsqrtf(squares / static_cast<float>(d) + eps);
  for (long long i = threadIdx.x; i < d; i += 32) out[blockIdx.x * d + i] = row[i] * scale * weight[i] + bias[i];
}
