// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The transposed product by a library's call into scratch memory, turned round by a kernel afterwards.
//
// task: matmul_f32
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "turned"
bytes = "256 + m * n * 4"

[[call]]
op          = "matmul"
a           = "b"
b           = "a"
transpose_a = true
transpose_b = true
out         = "turned + 256"
m           = "n"
n           = "m"
k           = "k"
when        = "k > 0"

[[memset]]
target = "turned"

[[launch]]
step   = 1
kernel = "turn"
grid   = ["ceil_div(n, 32)", "min(ceil_div(m, 32), 65535)"]
block  = ["32", "8"]
args   = ["turned + 256", "c", "m:i64", "n:i64"]
*/
__global__ void turn(const float* from, float* to, long long m, long long n) {
  __shared__ float tile[32][33];
  for (long long row = blockIdx.y * 32LL; row < m; row += gridDim.y * 32LL) {
    const long long column = blockIdx.x * 32LL;
    for (int i = threadIdx.y; i < 32; i += 8) {
      if (column + i < n && row + threadIdx.x < m) tile[i][threadIdx.x] = from[(column + i) * m + row + threadIdx.x];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8) {
      if (row + i < m && column + threadIdx.x < n) to[(row + i) * n + column + threadIdx.x] = tile[threadIdx.x][i];
    }
    __syncthreads();
  }
}
