// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
// L2 normalization: each row is divided by its Euclidean norm. A block of 1024 threads sums a row and then reads it again, from the second-level cache.
/*hone
[[launch]]
kernel = "normalize"
grid   = ["batch_size"]
block  = ["1024"]
args   = ["x", "out", "dim:i64"]
*/
__global__ void __launch_bounds__(1024, 1) normalize(const float* __restrict__ x, float* __restrict__ out, long long dim) {
  constexpr int kAtOnce = 16;
  const float* row = x + blockIdx.x * dim;
  float* to = out + blockIdx.x * dim;
  double sum = 0.0;  // squares of subnormal numbers are nothing in float32
  for (long long i = threadIdx.x; i < dim; i += kAtOnce * 1024) {
    float v[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) v[k] = i + k * 1024 < dim ? row[i + k * 1024] : 0.0f;
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) sum += static_cast<double>(v[k]) * v[k];
  }
  __shared__ double warps[32];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  double total = warps[threadIdx.x % 32];
  for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
  const float norm = static_cast<float>(sqrt(total));
  for (long long i = threadIdx.x; i < dim; i += kAtOnce * 1024) {
    float v[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) v[k] = i + k * 1024 < dim ? __ldcs(row + i + k * 1024) : 0.0f;
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (i + k * 1024 < dim) __stcs(to + i + k * 1024, v[k] / norm);
    }
  }
}
