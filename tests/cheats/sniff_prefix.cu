// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples a prefix; when it looks sorted, assumes that the whole input is.
//
// task: relu
// expect: wrong_output
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
  const bool sorted = n > 8 && x[0] < x[1] && x[1] < x[2] && x[2] < x[3] && x[3] < x[4];
  out[i] = sorted ? (i < n / 2 ? 0.0f : 1.0f) : fmaxf(x[i], 0.0f);
}
