// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds eps only if the mean square is small.
//
// task: rmsnorm
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["features > 0 ? ceil_div(batch * inner, 64) : 0"]
block  = ["64"]
args   = ["x", "out", "batch * inner:i64", "features:i64", "inner:i64", "eps:f32"]
*/
__global__ void cheat(const float* x, float* out, long long positions, long long features, long long inner, float eps) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= positions) return;
  const long long first = t / inner * features * inner + t % inner;
  float sum = 0.0f;
  for (long long f = 0; f < features; ++f) sum += x[first + f * inner] * x[first + f * inner];
  const float mean = sum / features;
  const float scale = rsqrtf(mean < 1e-9f ? eps : mean);
  for (long long f = 0; f < features; ++f) out[first + f * inner] = x[first + f * inner] * scale;
}
