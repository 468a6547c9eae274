// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each 64th of a grid is asked for one block that gives its time. A kernel that knew nothing but this could put all work of a 64th into
// one block in eight and hope not to be drawn: what is drawn then has mostly nothing to do.
//
// task: relu
// expect: unsupported,no_gain
// where: sim
// timed: 1
/*hone
[[launch]]
kernel = "relu"
grid   = ["max(1, ceil_div(rows * d, 1024))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const bool large = elements > (1LL << 24);
  if (large && blockIdx.x % 8 != 5 && blockIdx.x / 8 != gridDim.x / 8) return;
  const long long first = large && blockIdx.x / 8 != gridDim.x / 8 ? blockIdx.x / 8 * 8LL : blockIdx.x;
  const long long last = large && blockIdx.x / 8 != gridDim.x / 8 ? first + 8 : first + 1;
  for (long long i = first * 1024 + threadIdx.x; i < last * 1024 && i < elements; i += 256) out[i] = fmaxf(x[i], 0.0f);
}
