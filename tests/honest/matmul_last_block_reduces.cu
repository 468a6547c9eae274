// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Split along k; the last block of each tile to finish adds the parts up and resets the counter.
//
// task: matmul_f32
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "parts"
bytes = "m * n * 4 * 2"

[[workspace]]
name  = "arrived"
bytes = "ceil_div(m * n, 128) * 4"
zero  = true

[[launch]]
kernel = "matmul"
grid   = ["ceil_div(m * n, 128)", "2"]
block  = ["128"]
args   = ["a", "b", "c", "parts", "arrived", "m:i64", "n:i64", "k:i64"]
*/
__global__ void matmul(const float* a, const float* b, float* c, float* parts, unsigned* arrived, long long m,
                       long long n, long long k) {
  __shared__ bool last;
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < m * n) {
    float sum = 0.0f;
    for (long long j = k * blockIdx.y / 2; j < k * (blockIdx.y + 1) / 2; ++j) sum += a[i / n * k + j] * b[j * n + i % n];
    parts[blockIdx.y * m * n + i] = sum;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(arrived + blockIdx.x, 1u) == 1u;
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (i < m * n) c[i] = __ldcg(parts + i) + __ldcg(parts + m * n + i);
  if (threadIdx.x == 0) arrived[blockIdx.x] = 0;
}
