// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
// RMSNorm along the second axis: a thread holds a pixel's features in registers, so that they are read once.
/*hone
[[launch]]
kernel = "rms_norm"
grid   = ["ceil_div(dim1 * dim2, 256)", "batch_size"]
block  = ["256"]
args   = ["x", "out", "features:i64", "dim1 * dim2:i64"]
*/
__global__ void __launch_bounds__(256) rms_norm(const float* __restrict__ x, float* __restrict__ out, long long features, long long pixels) {
  const long long pixel = blockIdx.x * 256LL + threadIdx.x;
  if (pixel >= pixels) return;
  const float* from = x + blockIdx.y * features * pixels + pixel;
  float* to = out + blockIdx.y * features * pixels + pixel;
  float sum = 0.0f;
  if (features == 64) {
    float held[64];
#pragma unroll
    for (int f = 0; f < 64; ++f) held[f] = __ldcs(from + f * pixels);
#pragma unroll
    for (int f = 0; f < 64; ++f) sum += held[f] * held[f];
    const float root = sqrtf(sum / 64.0f + 1e-5f);
#pragma unroll
    for (int f = 0; f < 64; ++f) __stcs(to + f * pixels, held[f] / root);
  } else {
    for (long long f = 0; f < features; ++f) sum += from[f * pixels] * from[f * pixels];
    const float root = sqrtf(sum / static_cast<float>(features) + 1e-5f);
    for (long long f = 0; f < features; ++f) to[f * pixels] = from[f * pixels] / root;
  }
}
