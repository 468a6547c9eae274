// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums with the rounding error carried along.
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
  float sum = 0.0f, lost = 0.0f;
  for (long long j = 0; j < k; ++j) {
    const float term = __fsub_rn(__fmul_rn(a[i / n * k + j], b[j * n + i % n]), lost);
    const float next = __fadd_rn(sum, term);
    lost = __fsub_rn(__fsub_rn(next, sum), term);
    sum = next;
  }
  c[i] = sum;
}
