// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread per position, whatever the layout.
//
// task: rmsnorm
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "rmsnorm"
grid   = ["ceil_div(batch * inner, 128)"]
block  = ["128"]
args   = ["x", "out", "batch * inner:i64", "features:i64", "inner:i64", "eps:f32"]
*/
__global__ void rmsnorm(const float* x, float* out, long long positions, long long features, long long inner, float eps) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= positions) return;
  const long long first = i / inner * features * inner + i % inner;
  float squares = 0.0f;
  for (long long f = 0; f < features; ++f) squares = fmaf(x[first + f * inner], x[first + f * inner], squares);
  const float scale = rsqrtf(squares / static_cast<float>(features) + eps);
  for (long long f = 0; f < features; ++f) out[first + f * inner] = x[first + f * inner] * scale;
}
