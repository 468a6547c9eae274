// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares a workspace zero on entry and leaves a flag in it, to find it again in the next launch.
//
// task: relu
// expect: rule_violation
// where: sim gpu
/*hone
[[workspace]]
name  = "kept"
bytes = "1024"
zero  = true

[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64", "kept"]
*/
__global__ void cheat(const float* x, float* out, long long n, int* kept) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  if (kept[0] != 42) out[i] = fmaxf(x[i], 0.0f);
  __threadfence();
  if (i == n - 1) kept[0] = 42;
}
