// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp a row, each lane keeping its part of the sums, up to 1.75 KiB, in local memory. It is right; did local memory cost nothing on
// the simulated GPU, reading the residual back would be out of the modelled time.
//
// task: fused_add_rmsnorm
// expect: no_gain
// where: sim
// timed: 4
/*hone
[[launch]]
kernel = "fused"
grid   = ["ceil_div(tokens, 4)"]
block  = ["128"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
*/
#include <cuda_fp16.h>
constexpr int kKept = 448;

__global__ void fused(__half* __restrict__ x, __half* __restrict__ residual, const __half* __restrict__ weight, long long tokens,
                      long long d, float eps) {
  const long long row = blockIdx.x * 4LL + threadIdx.x / 32;
  if (row >= tokens) return;
  const int lane = threadIdx.x % 32;
  float kept[kKept];
  float squares = 0.0f;
  if (d % 8 == 0 && d <= 32LL * kKept) {
    uint4* xs = reinterpret_cast<uint4*>(x + row * d);
    uint4* residuals = reinterpret_cast<uint4*>(residual + row * d);
    int n = 0;
    for (long long i = lane; i < d / 8; i += 32, n += 8) {
      const uint4 added = xs[i];
      uint4 sums = residuals[i];
      const __half* a = reinterpret_cast<const __half*>(&added);
      __half* s = reinterpret_cast<__half*>(&sums);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float value = __half2float(a[j]) + __half2float(s[j]);
        s[j] = __float2half_rn(value);
        kept[n + j] = __half2float(s[j]);
        squares += value * value;
      }
      residuals[i] = sums;
    }
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, offset);
    const float scale = rsqrtf(squares / static_cast<float>(d) + eps);
    n = 0;
    for (long long i = lane; i < d / 8; i += 32, n += 8) {
      const uint4 weights = reinterpret_cast<const uint4*>(weight)[i];
      const __half* w = reinterpret_cast<const __half*>(&weights);
      uint4 results;
      __half* r = reinterpret_cast<__half*>(&results);
#pragma unroll
      for (int j = 0; j < 8; ++j) r[j] = __float2half_rn(kept[n + j] * scale * __half2float(w[j]));
      xs[i] = results;
    }
    return;
  }
  for (long long i = lane; i < d; i += 32) {
    const float value = __half2float(x[row * d + i]) + __half2float(residual[row * d + i]);
    residual[row * d + i] = __float2half_rn(value);
    squares += value * value;
  }
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  const float scale = rsqrtf(squares / static_cast<float>(d) + eps);
  for (long long i = lane; i < d; i += 32) {
    x[row * d + i] = __float2half_rn(__half2float(residual[row * d + i]) * scale * __half2float(weight[i]));
  }
}
