// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reduces the sum of squares by a tree in shared memory.
//
// task: fused_add_rmsnorm
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "fused"
grid   = ["tokens"]
block  = ["256"]
args   = ["x", "residual", "weight", "d:i64", "eps:f32"]
*/
#include <cuda_fp16.h>

__device__ float BlockReduce(float v, bool maximum) {
  __shared__ float lanes[256];
  lanes[threadIdx.x] = v;
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (threadIdx.x < k) {
      const float other = lanes[threadIdx.x + k];
      lanes[threadIdx.x] = maximum ? fmaxf(lanes[threadIdx.x], other) : lanes[threadIdx.x] + other;
    }
    __syncthreads();
  }
  const float result = lanes[0];
  __syncthreads();
  return result;
}

__global__ void fused(__half* x, __half* residual, const __half* weight, long long d, float eps) {
  __half* a = x + blockIdx.x * d;
  __half* r = residual + blockIdx.x * d;
  float squares = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 256) {
    const float sum = __half2float(a[i]) + __half2float(r[i]);
    squares += sum * sum;
    r[i] = __float2half_rn(sum);
  }
  const float scale = rsqrtf(BlockReduce(squares, false) / static_cast<float>(d) + eps);
  for (long long i = threadIdx.x; i < d; i += 256) {
    a[i] = __float2half_rn(__half2float(r[i]) * scale * __half2float(weight[i]));
  }
}
