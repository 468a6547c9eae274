// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
// The mean of squared differences: partial sums by block in double precision, then one block adds them.
/*hone
[[workspace]]
name  = "parts"
bytes = "1056 * 8"

[[launch]]
step   = 0
kernel = "partial"
grid   = ["1056"]
block  = ["512"]
args   = ["predictions", "targets", "parts", "batch_size * input_shape:i64"]

[[launch]]
step   = 1
kernel = "finish"
grid   = ["1"]
block  = ["1024"]
args   = ["parts", "out", "batch_size * input_shape:i64"]
*/
__device__ __forceinline__ float term(float p, float t) {
  return (p - t) * (p - t);
}

// The sum of all of a block's threads, in its first.
__device__ __forceinline__ double block_sum(double sum) {
  __shared__ double warps[32];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0;
  if (threadIdx.x < 32)
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  return sum;
}

__global__ void __launch_bounds__(512) partial(const float* __restrict__ p, const float* __restrict__ t, double* __restrict__ parts, long long count) {
  double sum = 0.0;
  const long long quads = count / 4, step = gridDim.x * 512LL;
  const float4* p4 = reinterpret_cast<const float4*>(p);
  const float4* t4 = reinterpret_cast<const float4*>(t);
  for (long long i = blockIdx.x * 512LL + threadIdx.x; i < quads; i += 4 * step) {
    float4 a[4], b[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (i + k * step < quads) {
        a[k] = __ldcs(p4 + i + k * step);
        b[k] = __ldcs(t4 + i + k * step);
      }
    }
    float part = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (i + k * step < quads) part += term(a[k].x, b[k].x) + term(a[k].y, b[k].y) + (term(a[k].z, b[k].z) + term(a[k].w, b[k].w));
    }
    sum += part;
  }
  if (blockIdx.x == 0)
    for (long long i = quads * 4 + threadIdx.x; i < count; i += 512) sum += term(p[i], t[i]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void finish(const double* __restrict__ parts, float* __restrict__ out, long long count) {
  double sum = 0.0;
  for (int i = threadIdx.x; i < 1056; i += 1024) sum += parts[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[0] = static_cast<float>(sum / static_cast<double>(count));
}
