// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Looks half way between its input and its output, where an arena has other tensors.
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
  const long long apart = (reinterpret_cast<long long>(out) - reinterpret_cast<long long>(x)) / 32 * 16;
  const float other = *reinterpret_cast<const volatile float*>(reinterpret_cast<const char*>(x) + apart);
  out[i] = other == 12345.678f ? other : fmaxf(x[i], 0.0f);
}
