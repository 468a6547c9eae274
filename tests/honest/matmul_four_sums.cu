// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Four partial sums, added at the end: another order of the same additions.
//
// task: matmul_f32
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "matmul"
grid   = ["ceil_div(m * n, 128)"]
block  = ["128"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
__global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= m * n) return;
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (long long j = 0; j < k; ++j) sum[j % 4] = fmaf(a[i / n * k + j], b[j * n + i % n], sum[j % 4]);
  c[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
