// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One warp per row, reduced by shuffles only.
//
// task: fused_add_rmsnorm
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "fused"
grid   = ["tokens"]
block  = ["32"]
args   = ["x", "residual", "weight", "d:i64", "eps:f32"]
*/
#include <cuda_fp16.h>

__global__ void fused(__half* x, __half* residual, const __half* weight, long long d, float eps) {
  __half* a = x + blockIdx.x * d;
  __half* r = residual + blockIdx.x * d;
  float squares = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 32) {
    const float sum = __half2float(a[i]) + __half2float(r[i]);
    squares = fmaf(sum, sum, squares);
    r[i] = __float2half_rn(sum);
  }
  for (int k = 16; k > 0; k /= 2) squares += __shfl_down_sync(0xffffffffu, squares, k);
  const float scale = rsqrtf(__shfl_sync(0xffffffffu, squares, 0) / static_cast<float>(d) + eps);
  for (long long i = threadIdx.x; i < d; i += 32) {
    a[i] = __float2half_rn(__half2float(r[i]) * scale * __half2float(weight[i]));
  }
}
