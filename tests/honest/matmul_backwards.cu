// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums from the last term to the first.
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
  float sum = 0.0f;
  for (long long j = k; j-- > 0;) sum += a[i / n * k + j] * b[j * n + i % n];
  c[i] = sum;
}
