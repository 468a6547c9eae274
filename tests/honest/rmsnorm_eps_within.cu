// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Divides by a root instead of multiplying by its inverse.
//
// task: rmsnorm
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "honest"
grid   = ["features > 0 ? ceil_div(batch * inner, 64) : 0"]
block  = ["64"]
args   = ["x", "out", "batch * inner:i64", "features:i64", "inner:i64", "eps:f32"]
*/
__global__ void honest(const float* x, float* out, long long positions, long long features, long long inner, float eps) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= positions) return;
  const long long first = t / inner * features * inner + t % inner;
  float sum = 0.0f;
  for (long long f = 0; f < features; ++f) sum += x[first + f * inner] * x[first + f * inner];
  const float mean = sum / features;
  const float root = sqrtf(mean + eps);
  for (long long f = 0; f < features; ++f) out[first + f * inner] = x[first + f * inner] / root;
}
