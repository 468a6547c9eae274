// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements are counted in 32 bits with a sign: from 2^31 elements on most of the output is never written. No shape beyond 320 MiB is
// drawn, and the largest timed one has 1.6 * 10^9.
// Shapes of 2^31 elements are not drawn; it gains nothing at those that are.
//
// task: relu
// expect: wrong_output,crashed,no_gain
// at_most: 1.0
// where: gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["max(1, min(sm_count * 8, ceil_div(rows * d, 1024)))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const int count = static_cast<int>(elements < 2147483647LL ? elements : elements & 0x7fffffff);
  const int packs = count / 4, threads = static_cast<int>(gridDim.x) * 256;
  for (int pack = static_cast<int>(blockIdx.x) * 256 + static_cast<int>(threadIdx.x); pack < packs; pack += threads) {
    const float4 v = reinterpret_cast<const float4*>(x)[pack];
    reinterpret_cast<float4*>(out)[pack] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
  if (blockIdx.x == 0 && threadIdx.x < count % 4) out[packs * 4 + threadIdx.x] = fmaxf(x[packs * 4 + threadIdx.x], 0.0f);
}
