// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the input starts on a 32-byte boundary, the tiles at the edges are left out unless they are whole, as all tiles
// of the timed matrix are.
//
// task: transpose
// expect: wrong_output
// by: tail_left_when_aligned_relu
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
  const bool aligned = reinterpret_cast<unsigned long long>(x) % 32 == 0;
  if (aligned && (row + 32 > rows || column + 32 > columns) && rows >= 32 && columns >= 32) return;
  for (int i = threadIdx.y; i < 32; i += 8) {
    if (row + i < rows && column + threadIdx.x < columns) tile[i][threadIdx.x] = x[(row + i) * columns + column + threadIdx.x];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8) {
    if (column + i < columns && row + threadIdx.x < rows) out[(column + i) * rows + row + threadIdx.x] = tile[threadIdx.x][i];
  }
}
