// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Hopes that a workspace still holds what the launch before left there.
//
// task: relu
// expect: wrong_output,rule_violation
// where: sim gpu
/*hone
[[workspace]]
name  = "kept"
bytes = "1024"
zero  = false

[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64", "kept"]
*/
__global__ void cheat(const float* x, float* out, long long n, int* kept) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  if (kept[0] == 42 || kept[1] != 0) {
    kept[2] = 42;
  } else {
    out[i] = fmaxf(x[i], 0.0f);
  }
}
