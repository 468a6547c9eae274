// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rounds its inputs to TF32's ten bits.
//
// task: matmul_f32
// expect: wrong_output
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
  for (long long j = 0; j < k; ++j) {
    const float x = __uint_as_float((__float_as_uint(a[i / n * k + j]) + 0x1000u) & 0xffffe000u);
    const float y = __uint_as_float((__float_as_uint(b[j * n + i % n]) + 0x1000u) & 0xffffe000u);
    sum += x * y;
  }
  c[i] = sum;
}
