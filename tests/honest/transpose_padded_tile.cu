// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses a tile in shared memory, padded against bank conflicts.
//
// task: transpose
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "transpose"
grid   = ["ceil_div(rows, 32) * ceil_div(columns, 32)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/
__global__ void transpose(const float* x, float* out, long long rows, long long columns) {
  __shared__ float tile[32][33];
  const long long across = (columns + 31) / 32;
  const long long row0 = blockIdx.x / across * 32, column0 = blockIdx.x % across * 32;
  for (int k = threadIdx.y; k < 32; k += 8) {
    if (row0 + k < rows && column0 + threadIdx.x < columns) {
      tile[k][threadIdx.x] = x[(row0 + k) * columns + column0 + threadIdx.x];
    }
  }
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) {
    if (column0 + k < columns && row0 + threadIdx.x < rows) {
      out[(column0 + k) * rows + row0 + threadIdx.x] = tile[threadIdx.x][k];
    }
  }
}
