// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks for a grid that overflows 64 bits.
//
// task: relu
// expect: launch_error
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["(rows + 1) * 9223372036854775807 * 2"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
}
