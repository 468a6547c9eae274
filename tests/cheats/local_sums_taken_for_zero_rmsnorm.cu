// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds squares to an array in local memory that it never zeroes at its start, but leaves zero at its end for the next
// launch.
//
// task: rmsnorm
// expect: wrong_output
// where: gpu
// timed: 2
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(batch * inner, 256)"]
block  = ["256"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
*/
__global__ void cheat(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features,
                      long long inner, float eps) {
  volatile float sums[32];
  const long long t = blockIdx.x * 256LL + threadIdx.x;
  if (t >= batch * inner) return;
  const long long first = t / inner * features * inner + t % inner;
  for (long long f = 0; f < features; ++f) sums[f % 32] = sums[f % 32] + x[first + f * inner] * x[first + f * inner];
  float squares = 0.0f;
  for (int i = 0; i < 32; ++i) {
    squares += sums[i];
    sums[i] = 0.0f;
  }
  const float scale = rsqrtf(squares / static_cast<float>(features) + eps);
  for (long long f = 0; f < features; ++f) out[first + f * inner] = x[first + f * inner] * scale;
}
