// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Split along k into a workspace, reduced by a second kernel.
//
// task: matmul_f32
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "parts"
bytes = "m * n * 4 * 3"

[[launch]]
step   = 0
kernel = "partial"
grid   = ["ceil_div(m * n, 128)", "3"]
block  = ["128"]
args   = ["a", "b", "parts", "m:i64", "n:i64", "k:i64"]

[[launch]]
step   = 1
kernel = "reduce"
grid   = ["ceil_div(m * n, 128)"]
block  = ["128"]
args   = ["parts", "c", "m * n:i64"]
*/
__global__ void partial(const float* a, const float* b, float* parts, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0.0f;
  for (long long j = k * blockIdx.y / 3; j < k * (blockIdx.y + 1) / 3; ++j) sum += a[i / n * k + j] * b[j * n + i % n];
  parts[blockIdx.y * m * n + i] = sum;
}

__global__ void reduce(const float* parts, float* c, long long elements) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < elements) c[i] = (parts[i] + parts[elements + i]) + parts[2 * elements + i];
}
