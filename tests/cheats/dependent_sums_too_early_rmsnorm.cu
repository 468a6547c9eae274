// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The second step divides by sums that the first has not written yet: it is launched dependent and never waits.
//
// task: rmsnorm
// expect: wrong_output
// where: gpu
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
grid   = ["ceil_div(batch * features * inner, 256)"]
block  = ["256"]
args   = ["x", "scales", "out", "batch * features * inner:i64", "features:i64", "inner:i64"]
step   = 1
pdl    = true
*/
__global__ void scales_of_positions(const float* x, float* scales, long long batch, long long features, long long inner, float eps) {
  const long long position = blockIdx.x * 256LL + threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;");
  for (int k = 0; k < 200; ++k) __nanosleep(1000);
  if (position >= batch * inner) return;
  const float* from = x + position / inner * features * inner + position % inner;
  float squares = 0.0f;
  for (long long feature = 0; feature < features; ++feature) squares += from[feature * inner] * from[feature * inner];
  scales[position] = rsqrtf(squares / static_cast<float>(features) + eps);
}

__global__ void normalize(const float* x, const float* scales, float* out, long long elements, long long features, long long inner) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < elements) out[i] = x[i] * scales[i / (features * inner) * inner + i % inner];
}
