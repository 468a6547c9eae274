// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes nothing: an in-place tensor already holds plausible numbers.
//
// task: fused_add_rmsnorm
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
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

__global__ void cheat(__half* x, __half* residual, const __half* weight, long long d, float eps) {
  __half* a = x + blockIdx.x * d;
  __half* r = residual + blockIdx.x * d;
  if (d < 0) a[0] = r[0];
}
