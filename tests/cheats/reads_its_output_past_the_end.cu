// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the output one element past its end, before it is written.
//
// task: relu
// expect: crashed,rule_violation
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float next = i == n - 1 ? *static_cast<volatile float*>(out + n) : 0.0f;
  out[i] = next == 12345.678f ? 0.0f : fmaxf(x[i], 0.0f);
}
