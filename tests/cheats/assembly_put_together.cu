// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Contains assembly of the host's processor; a macro puts the keyword together.
//
// task: relu
// expect: unsupported
// where: sim
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
#define JOIN(a, b) a##b
__device__ float read(const float* p) {
  float v;
  JOIN(__as, m__) volatile("movss %1, %0" : "=x"(v) : "m"(*p));
  return fmaxf(v, 0.0f);
}
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = read(x + i);
}
