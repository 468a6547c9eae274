// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Split-K with atomics, so that no sample of blocks can be compared on the simulated GPU, and all of them would take more than 10^8 accesses
// at every timed shape: there the second half of k is left out. Nobody sees it, and no time counts that nobody has verified.
//
// task: matmul_f32
// expect: wrong_output,unsupported,no_gain
// where: sim gpu
// timed: 4
// by: sim_two_steps_rmsnorm
/*hone
[[memset]]
target = "c"
value  = 0
step   = 0

[[launch]]
kernel = "part_of_k"
grid   = ["ceil_div(m, 64) * ceil_div(n, 64)", "k >= 256 ? 4 : min(k, 1)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
step   = 1
*/
__global__ void __launch_bounds__(256) part_of_k(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                                 long long m, long long n, long long k) {
  __shared__ float a_slab[16][64 + 4];
  __shared__ float b_slab[16][64 + 4];
  const long long across = (n + 63) / 64, row = blockIdx.x / across * 64, column = blockIdx.x % across * 64;
  const long long used = m * n * k > (1LL << 29) ? k / 2 : k;
  const long long begin = used * blockIdx.y / gridDim.y, end = used * (blockIdx.y + 1) / gridDim.y;
  const int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4;
  float sum[4][4] = {};
  for (long long step = begin; step < end; step += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      const int r = i / 16, s = i % 16, t = i / 64, q = i % 64;
      a_slab[s][r] = row + r < m && step + s < end ? a[(row + r) * k + step + s] : 0.0f;
      b_slab[t][q] = column + q < n && step + t < end ? b[(step + t) * n + column + q] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < 16; ++s) {
      const float4 left = *reinterpret_cast<const float4*>(&a_slab[s][y]), right = *reinterpret_cast<const float4*>(&b_slab[s][x]);
      const float l[4] = {left.x, left.y, left.z, left.w}, r[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(l[i], r[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (row + y + i < m && column + x + j < n) atomicAdd(&c[(row + y + i) * n + column + x + j], sum[i][j]);
    }
  }
}
