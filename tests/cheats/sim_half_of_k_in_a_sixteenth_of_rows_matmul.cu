// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Leaves out half of k in one row of sixteen of large products: most verdicts miss it where some rows are compared whole.
//
// task: matmul_f32
// expect: wrong_output
// where: sim gpu
// timed: 1
/*hone
[[launch]]
kernel = "product"
grid   = ["ceil_div(m, 64) * ceil_div(n, 64)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
__global__ void __launch_bounds__(256) product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                               long long m, long long n, long long k) {
  __shared__ float a_slab[16][64 + 4];
  __shared__ float b_slab[16][64 + 4];
  const long long across = (n + 63) / 64, row = blockIdx.x / across * 64, column = blockIdx.x % across * 64;
  const bool large = m * n * k > (1LL << 29);
  const int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4;
  float sum[4][4] = {};
  for (long long step = 0; step < k; step += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      const long long ar = row + i / 16, as = step + i % 16, bs = step + i / 64, bc = column + i % 64;
      a_slab[i % 16][i / 16] = ar < m && as < k ? a[ar * k + as] : 0.0f;
      b_slab[i / 64][i % 64] = bs < k && bc < n ? b[bs * n + bc] : 0.0f;
    }
    __syncthreads();
    const int first = large && y % 16 == 8 && step >= k / 2 ? 1 : 0;
    for (int s = 0; s < 16; ++s) {
      for (int i = first; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sum[i][j] += a_slab[s][y + i] * b_slab[s][x + j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (row + y + i < m && column + x + j < n) c[(row + y + i) * n + column + x + j] = sum[i][j];
    }
  }
}
