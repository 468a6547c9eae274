// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Expects the usual poison in a workspace to show that this launch is not a timed one.
//
// task: relu
// expect: rule_violation
// where: sim
/*hone
[[workspace]]
name  = "w"
bytes = "256"

[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64", "w"]
*/
__global__ void cheat(const float* x, float* out, long long n, const unsigned* w) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = w[i & 63] == 0xa5a5a5a5u ? fmaxf(x[i], 0.0f) : fmaxf(x[i], 0.0f) + 0.0f;
}
