// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads an element 1024 places ahead early, even if there is none.
//
// task: relu
// expect: crashed
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
  const float ahead = *static_cast<const volatile float*>(x + i + 1024);
  out[i] = ahead == 12345.678f ? 0.0f : fmaxf(x[i], 0.0f);
}
