// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks draw their tiles from a counter in a workspace that they read and write by volatile accesses: two blocks can draw the same
// tile, and one is then never copied. One block after the other, as a simulation may run them, nothing is seen.
//
// task: transpose
// expect: wrong_output,rule_violation
// where: sim
/*hone
[[workspace]]
name  = "next"
bytes = "4"

[[memset]]
target = "next"
value  = 0
step   = 0

[[launch]]
kernel = "transpose"
grid   = ["ceil_div(rows, 32) * ceil_div(columns, 32)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64", "next"]
step   = 1
*/
__global__ void transpose(const float* __restrict__ x, float* __restrict__ out, long long rows, long long columns, volatile int* next) {
  __shared__ float tile[32][33];
  __shared__ int drawn;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    drawn = *next;
    *next = drawn + 1;
  }
  __syncthreads();
  const long long across = (columns + 31) / 32, top = drawn / across * 32, left = drawn % across * 32;
  for (int j = threadIdx.y; j < 32; j += 8) {
    if (top + j < rows && left + threadIdx.x < columns) tile[j][threadIdx.x] = x[(top + j) * columns + left + threadIdx.x];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8) {
    if (left + j < columns && top + threadIdx.x < rows) out[(left + j) * rows + top + threadIdx.x] = tile[threadIdx.x][j];
  }
}
