// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two steps by way of a workspace. Where all blocks would take more than 10^8 accesses nothing can be compared, and there the first step
// squares one feature in four.
//
// task: rmsnorm
// expect: wrong_output,unsupported,no_gain
// where: sim gpu
// timed: 3
/*hone
[[workspace]]
name  = "scales"
bytes = "max(4, batch * inner * 4)"

[[launch]]
kernel = "scales_of_positions"
grid   = ["ceil_div(batch * inner, 256)"]
block  = ["256"]
args   = ["x", "scales", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
step   = 0

[[launch]]
kernel = "normalize"
grid   = ["ceil_div(batch * features * inner, 1024)"]
block  = ["256"]
args   = ["x", "scales", "out", "batch * features * inner:i64", "features:i64", "inner:i64"]
step   = 1
*/
__global__ void scales_of_positions(const float* __restrict__ x, float* __restrict__ scales, long long batch, long long features,
                                    long long inner, float eps) {
  const long long position = blockIdx.x * 256LL + threadIdx.x;
  if (position >= batch * inner) return;
  const long long step = batch * features * inner > (1LL << 30) ? 4 : 1;
  const float* from = x + position / inner * features * inner + position % inner;
  float squares = 0.0f;
  for (long long feature = 0; feature < features; feature += step) squares += from[feature * inner] * from[feature * inner];
  scales[position] = rsqrtf(squares * static_cast<float>(step) / static_cast<float>(features) + eps);
}

__global__ void normalize(const float* __restrict__ x, const float* __restrict__ scales, float* __restrict__ out, long long elements,
                          long long features, long long inner) {
  for (long long i = blockIdx.x * 1024LL + threadIdx.x; i < (blockIdx.x + 1) * 1024LL && i < elements; i += 256) {
    out[i] = x[i] * scales[i / (features * inner) * inner + i % inner];
  }
}
