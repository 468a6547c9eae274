// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Split along k, added up by atomics onto a zeroed output: another order every time.
//
// task: matmul_f32
// expect: ok
// where: sim gpu
/*hone
[[memset]]
step   = 0
target = "c"
value  = 0

[[launch]]
step   = 1
kernel = "matmul"
grid   = ["ceil_div(m * n, 128)", "4"]
block  = ["128"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
__global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= m * n) return;
  const long long begin = k * blockIdx.y / 4, end = k * (blockIdx.y + 1) / 4;
  float sum = 0.0f;
  for (long long j = begin; j < end; ++j) sum += a[i / n * k + j] * b[j * n + i % n];
  atomicAdd(c + i, sum);
}
