// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The lanes of a warp read what the others wrote, behind a barrier of the warp. gpu_code_without_a_barrier_transpose.cu shows that
// barrier to the simulated GPU alone.
//
// task: transpose
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "by_warps"
grid   = ["ceil_div(rows, 32) * ceil_div(columns, 128)"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/
__global__ void by_warps(const float* __restrict__ x, float* __restrict__ out, long long rows, long long columns) {
  __shared__ float tiles[4][32][33];
  float(*tile)[33] = tiles[threadIdx.x / 32];
  const long long across = (columns + 127) / 128;
  const long long row = blockIdx.x / across * 32, column = blockIdx.x % across * 128 + threadIdx.x / 32 * 32;
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 32; ++i) {
    if (row + i < rows && column + lane < columns) tile[i][lane] = x[(row + i) * columns + column + lane];
  }
  __syncwarp();
  for (int i = 0; i < 32; ++i) {
    if (column + i < columns && row + lane < rows) out[(column + i) * rows + row + lane] = tile[lane][i];
  }
}
