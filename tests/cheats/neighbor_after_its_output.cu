// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Looks for another set of tensors behind the output, in case sets lie one after another.
//
// task: relu
// expect: crashed
// where: gpu
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
  const float other = *static_cast<volatile float*>(out + i + 2 * n);
  out[i] = other == fmaxf(x[i], 0.0f) ? other : fmaxf(x[i], 0.0f);
}
