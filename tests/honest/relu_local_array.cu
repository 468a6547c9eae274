// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A local array is filled, indexed by a variable and read.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  float v[8];
  const int turn = static_cast<int>(i & 7);
  for (int j = 0; j < 8; ++j) v[(j + turn) & 7] = static_cast<float>(j);
  if (i < n) out[i] = v[turn] == 0.0f ? fmaxf(x[i], 0.0f) : -1.0f;
}
