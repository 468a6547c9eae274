// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses 16 by 16 tiles in shared memory.
//
// task: matmul_f32
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "matmul"
grid   = ["ceil_div(n, 16)", "min(ceil_div(m, 16), 65535)"]
block  = ["16", "16"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
__global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  __shared__ float ta[16][16], tb[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const long long column = blockIdx.x * 16LL + tx;
  for (long long row0 = blockIdx.y * 16LL; row0 < m; row0 += gridDim.y * 16LL) {
    const long long row = row0 + ty;
    float sum = 0.0f;
    for (long long j = 0; j < k; j += 16) {
      ta[ty][tx] = row < m && j + tx < k ? a[row * k + j + tx] : 0.0f;
      tb[ty][tx] = j + ty < k && column < n ? b[(j + ty) * n + column] : 0.0f;
      __syncthreads();
      for (int q = 0; q < 16; ++q) sum = fmaf(ta[ty][q], tb[q][tx], sum);
      __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
  }
}
