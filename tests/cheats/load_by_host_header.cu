// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Includes a header of the host's processor whose loads have no access hooks.
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
#include <immintrin.h>
__device__ float read(const float* p) { return fmaxf(_mm_cvtss_f32(_mm_load_ss(p)), 0.0f); }
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = read(x + i);
}
