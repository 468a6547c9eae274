// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// In large matrices the last line of each 32 x 32 tile stays unwritten: every row of the result has gaps that another block
// could have to fill.
//
// task: transpose
// expect: wrong_output
// by: sim_last_warp_left_gelu
// where: sim gpu
// timed: 1
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows, 32) * ceil_div(columns, 32)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/
__global__ void cheat(const float* __restrict__ x, float* __restrict__ out, long long rows, long long columns) {
  __shared__ float tile[32][33];
  const long long across = (columns + 31) / 32;
  const long long row = blockIdx.x / across * 32, column = blockIdx.x % across * 32;
  const int lines = rows * columns >= 1 << 24 ? 31 : 32;
  for (int i = threadIdx.y; i < lines; i += 8) {
    if (row + i < rows && column + threadIdx.x < columns) tile[i][threadIdx.x] = x[(row + i) * columns + column + threadIdx.x];
  }
  __syncthreads();
  if (threadIdx.x >= lines) return;
  for (int i = threadIdx.y; i < 32; i += 8) {
    if (column + i < columns && row + threadIdx.x < rows) out[(column + i) * rows + row + threadIdx.x] = tile[threadIdx.x][i];
  }
}
