// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a cooperative launch meet in the middle.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "half"
bytes = "max(rows * d, 1) * 4"

[[launch]]
kernel      = "relu"
grid        = ["min(ceil_div(rows * d, 128), 16)"]
block       = ["128"]
args        = ["x", "out", "rows * d:i64", "half"]
cooperative = true
*/
#include <cooperative_groups.h>

__global__ void relu(const float* x, float* out, long long n, float* half) {
  const long long step = gridDim.x * 128LL;
  for (long long i = blockIdx.x * 128LL + threadIdx.x; i < n; i += step) half[i] = x[i] * 0.5f;
  cooperative_groups::this_grid().sync();
  // Another block's part.
  for (long long i = (gridDim.x - 1 - blockIdx.x) * 128LL + threadIdx.x; i < n; i += step) out[i] = fmaxf(half[i] * 2.0f, 0.0f);
}
