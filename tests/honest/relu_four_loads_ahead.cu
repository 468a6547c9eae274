// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Has four loads in flight before the first store.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 1024)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long n) {
  const long long first = blockIdx.x * 1024LL + threadIdx.x;
  float v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) v[k] = first + k * 256 < n ? x[first + k * 256] : 0.0f;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (first + k * 256 < n) out[first + k * 256] = fmaxf(v[k], 0.0f);
  }
}
