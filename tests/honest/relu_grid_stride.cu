// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses a grid of a few blocks per SM with a stride.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["min(ceil_div(rows * d, 256), sm_count * 4)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* x, float* out, long long n) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) out[i] = fmaxf(x[i], 0.0f);
}
