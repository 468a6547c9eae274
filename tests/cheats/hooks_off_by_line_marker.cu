// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A line marker claims that the following text is a system header.
//
// task: relu
// expect: rule_violation
// where: sim
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
# 1 "/usr/include/quiet.h" 1 3
__attribute__((no_sanitize_thread)) __device__ float read(const float* p) { return fmaxf(*p, 0.0f); }
# 12 "candidate.cu" 2
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = read(x + i);
}
