// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The alternative for wide rows that are not whole vectors is wrong. No case, hidden range or timed shape takes it.
//
// task: rmsnorm
// expect: wrong_output
// where: gpu
/*hone
[[launch]]
kernel = "honest"
grid   = ["ceil_div(batch * inner, 128)"]
block  = ["128"]
args   = ["x", "out", "batch * inner:i64", "features:i64", "inner:i64", "features:i64", "eps:f32"]
when   = "features % 4 == 0 || features <= 6000 || inner > 1"

[[launch]]
kernel = "honest"
grid   = ["ceil_div(batch * inner, 128)"]
block  = ["128"]
args   = ["x", "out", "batch * inner:i64", "features:i64", "inner:i64", "features / 4 * 4:i64", "eps:f32"]
*/
__global__ void honest(const float* x, float* out, long long positions, long long features, long long inner,
                       long long summed, float eps) {
  const long long t = blockIdx.x * 128LL + threadIdx.x;
  if (t >= positions) return;
  const long long first = t / inner * features * inner + t % inner;
  float sum = 0;
  for (long long f = 0; f < summed; ++f) sum += x[first + f * inner] * x[first + f * inner];
  const float scale = rsqrtf(sum / static_cast<float>(features) + eps);
  for (long long f = 0; f < summed; ++f) out[first + f * inner] = x[first + f * inner] * scale;
}
