// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds sums of squares of quarters of a row to a workspace that nobody has zeroed: 0xa5 in every byte is a float of
// -3e-16.
//
// task: rmsnorm
// expect: wrong_output
// where: gpu
// timed: 2
/*hone
[[workspace]]
name  = "sums"
bytes = "max(batch * inner, 1) * 4"

[[launch]]
kernel = "add"
grid   = ["features > 0 ? ceil_div(batch * inner, 256) * 4 : 0"]
block  = ["256"]
args   = ["x", "sums", "batch:i64", "features:i64", "inner:i64"]
step   = 0

[[launch]]
kernel = "scale"
grid   = ["ceil_div(batch * features * inner, 1024)"]
block  = ["256"]
args   = ["x", "out", "sums", "batch * features * inner:i64", "features:i64", "inner:i64", "eps:f32"]
step   = 1
*/
__global__ void add(const float* __restrict__ x, float* __restrict__ sums, long long batch, long long features,
                    long long inner) {
  const long long t = blockIdx.x / 4 * 256LL + threadIdx.x, quarter = (features + 3) / 4,
                  begin = blockIdx.x % 4 * quarter;
  if (t >= batch * inner) return;
  const float* from = x + t / inner * features * inner + t % inner;
  float squares = 0.0f;
  for (long long f = begin; f < min(begin + quarter, features); ++f) squares += from[f * inner] * from[f * inner];
  atomicAdd(sums + t, squares);
}

__global__ void scale(const float* __restrict__ x, float* __restrict__ out, const float* __restrict__ sums,
                      long long elements, long long features, long long inner, float eps) {
  for (int j = 0; j < 4; ++j) {
    const long long i = blockIdx.x * 1024LL + j * 256 + threadIdx.x;
    if (i >= elements) return;
    const long long t = i / (features * inner) * inner + i % inner;
    out[i] = x[i] * rsqrtf(sums[t] / static_cast<float>(features) + eps);
  }
}
