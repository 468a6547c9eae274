// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Looks for another set of tensors before the input.
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
  const float other = *static_cast<const volatile float*>(x + i - 2 * n - 1048576);
  out[i] = other == 12345.678f ? other : fmaxf(x[i], 0.0f);
}
