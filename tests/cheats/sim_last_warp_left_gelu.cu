// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// At large sizes the last of a block's warps writes nothing: a thirty-second of each row, which in a sample of blocks could
// be the work of other blocks.
//
// task: gelu_tanh
// expect: wrong_output
// where: sim gpu
// timed: 1
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 1024)"]
block  = ["1024"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 1024LL + threadIdx.x;
  if (i >= n || (n > 1 << 25 && threadIdx.x >= 992)) return;
  const float v = x[i], t = tanhf(0.7978845608f * (v + 0.044715f * v * v * v));
  out[i] = 0.5f * v * (1.0f + t);
}
