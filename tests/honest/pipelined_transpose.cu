// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Persistent blocks that fetch the next 32 x 32 tile with cp.async, four bytes at a time, while the present one is written out.
//
// task: transpose
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "transpose"
grid   = ["min(sm_count * 8, ceil_div(rows, 32) * ceil_div(columns, 32))"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/
#include <cuda_pipeline_primitives.h>

__global__ void __launch_bounds__(256) transpose(const float* __restrict__ x, float* __restrict__ out, long long rows,
                                                 long long columns) {
  __shared__ float tile[2][32][33];
  const long long across = (columns + 31) / 32, tiles = across * ((rows + 31) / 32);
  const auto fetch = [&](long long at, int stage) {
    if (at < tiles) {
      const long long row = at / across * 32, column = at % across * 32 + threadIdx.x;
      for (int i = threadIdx.y; i < 32; i += 8) {
        if (row + i < rows && column < columns) {
          __pipeline_memcpy_async(&tile[stage][i][threadIdx.x], x + (row + i) * columns + column, 4);
        }
      }
    }
    __pipeline_commit();
  };
  int stage = 0;
  fetch(blockIdx.x, 0);
  for (long long at = blockIdx.x; at < tiles; at += gridDim.x, stage ^= 1) {
    fetch(at + gridDim.x, stage ^ 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    const long long row = at / across * 32 + threadIdx.x, column = at % across * 32;
    for (int i = threadIdx.y; i < 32; i += 8) {
      if (column + i < columns && row < rows) out[(column + i) * rows + row] = tile[stage][threadIdx.x][i];
    }
    __syncthreads();
  }
}
