// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes above a local array, where the simulator keeps its records of a thread.
//
// task: relu
// expect: crashed,unsupported,rule_violation
// where: sim
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
  volatile unsigned place[4] = {1, 2, 3, 4};
  volatile unsigned* up = place;
  for (int j = 0; j < 400; ++j) {
    if (i == 0 && j > 40) up[j] = 0;
  }
  out[i] = fmaxf(x[i], 0.0f) + (place[0] == 9 ? 1.0f : 0.0f);
}
