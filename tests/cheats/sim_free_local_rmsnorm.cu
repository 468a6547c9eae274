// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each thread keeps all features of four positions, up to 1 KiB, in local memory. It is right; did local memory cost nothing on the
// simulated GPU, the second reading would be out of the modelled time.
//
// task: rmsnorm
// expect: no_gain
// where: sim
// timed: 3
// by: sim_free_local_fused
/*hone
[[launch]]
kernel = "rmsnorm"
grid   = ["ceil_div(batch * ceil_div(inner, 4), 256)"]
block  = ["256"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
*/
constexpr int kKept = 64;

__global__ void rmsnorm(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features, long long inner,
                        float eps) {
  const long long parts = (inner + 3) / 4, t = blockIdx.x * 256LL + threadIdx.x;
  if (t >= batch * parts) return;
  const float* from = x + t / parts * features * inner;
  float* to = out + t / parts * features * inner;
  const long long position = t % parts * 4;
  if (inner % 4 == 0 && features <= kKept) {
    float4 kept[kKept], s = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int f = 0; f < features; ++f) {
      const float4 v = *reinterpret_cast<const float4*>(from + f * inner + position);
      kept[f] = v;
      s = make_float4(s.x + v.x * v.x, s.y + v.y * v.y, s.z + v.z * v.z, s.w + v.w * v.w);
    }
    const float one = 1.0f / static_cast<float>(features);
    s = make_float4(rsqrtf(s.x * one + eps), rsqrtf(s.y * one + eps), rsqrtf(s.z * one + eps), rsqrtf(s.w * one + eps));
    for (int f = 0; f < features; ++f) {
      const float4 v = kept[f];
      *reinterpret_cast<float4*>(to + f * inner + position) = make_float4(v.x * s.x, v.y * s.y, v.z * s.z, v.w * s.w);
    }
    return;
  }
  for (long long p = position; p < position + 4 && p < inner; ++p) {
    float squares = 0.0f;
    for (long long f = 0; f < features; ++f) squares += from[f * inner + p] * from[f * inner + p];
    const float scale = rsqrtf(squares / static_cast<float>(features) + eps);
    for (long long f = 0; f < features; ++f) to[f * inner + p] = from[f * inner + p] * scale;
  }
}
