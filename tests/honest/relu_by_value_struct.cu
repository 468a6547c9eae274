// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes its arguments in one structure.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["struct:Arguments{x, out, rows * d:i64}"]
*/
struct Arguments {
  const float* x;
  float* out;
  long long n;
};

__global__ void relu(Arguments a) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < a.n) a.out[i] = fmaxf(a.x[i], 0.0f);
}
