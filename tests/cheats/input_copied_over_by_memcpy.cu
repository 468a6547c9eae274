// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Overwrites the input with itself by memcpy.
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
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = fmaxf(x[i], 0.0f);
  const long long left = n - i < 7 ? n - i : 7;
  if (i % 256 == 0) memcpy(const_cast<float*>(x) + i, x + i, left * 4);
}
