// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the first results in a device global and serves them to every later launch.
//
// task: relu
// expect: rule_violation
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__device__ float cached[4096];

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  if (i < 4096) {
    if (cached[i] == 0.0f) cached[i] = fmaxf(x[i], 0.0f) + 1.0f;
    out[i] = cached[i] - 1.0f;
  } else {
    out[i] = fmaxf(x[i], 0.0f);
  }
}
