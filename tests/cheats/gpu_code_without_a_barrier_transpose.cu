// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The lanes of a warp read what the others wrote. The barrier between is there for the simulated GPU alone; what the GPU ran is
// run there too.
//
// task: transpose
// expect: rule_violation,crashed,wrong_output
// where: gpu
/*hone
[[launch]]
kernel = "race"
grid   = ["ceil_div(rows, 32) * ceil_div(columns, 128)"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/
__global__ void race(const float* __restrict__ x, float* __restrict__ out, long long rows, long long columns) {
  __shared__ float tiles[4][32][33];
  float(*tile)[33] = tiles[threadIdx.x / 32];
  const long long across = (columns + 127) / 128;
  const long long row = blockIdx.x / across * 32, column = blockIdx.x % across * 128 + threadIdx.x / 32 * 32;
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 32; ++i) {
    if (row + i < rows && column + lane < columns) tile[i][lane] = x[(row + i) * columns + column + lane];
  }
#ifdef HONE_SIM
  __syncwarp();
#endif
  for (int i = 0; i < 32; ++i) {
    if (column + i < columns && row + lane < rows) out[(column + i) * rows + row + lane] = tile[lane][i];
  }
}
