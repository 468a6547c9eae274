// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses a persistent grid.
//
// task: relu
// expect: ok
// where: sim
// timed: 1
/*hone
[[launch]]
kernel = "relu"
grid   = ["min(sm_count * 8, ceil_div(rows * d, 256))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  for (long long j = i; j < n; j += gridDim.x * 256LL) out[j] = fmaxf(x[j], 0.0f);
}
