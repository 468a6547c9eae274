// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads whole groups of eight elements through std::copy_n, up to seven of them past the end of the input.
//
// task: relu
// expect: crashed
// where: sim
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 2048)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
#include <algorithm>

__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long first = (blockIdx.x * 256LL + threadIdx.x) * 8;
  if (first >= elements) return;
  float v[8];
  std::copy_n(x + first, 8, v);
  for (int j = 0; j < 8 && first + j < elements; ++j) out[first + j] = fmaxf(v[j], 0.0f);
}
