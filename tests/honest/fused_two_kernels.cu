// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of squares in one kernel by global atomics on a zeroed workspace, the rest in a second.
//
// task: fused_add_rmsnorm
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "squares"
bytes = "tokens * 4"

[[memset]]
step   = 0
target = "squares"
value  = 0

[[launch]]
step   = 1
kernel = "add"
grid   = ["ceil_div(d, 128)", "min(tokens, 65535)"]
block  = ["128"]
args   = ["x", "residual", "squares", "tokens:i32", "d:i64"]

[[launch]]
step   = 2
kernel = "scale"
grid   = ["ceil_div(d, 128)", "min(tokens, 65535)"]
block  = ["128"]
args   = ["x", "residual", "weight", "squares", "tokens:i32", "d:i64", "eps:f32"]
*/
#include <cuda_fp16.h>

__global__ void add(const __half* x, __half* residual, float* squares, int tokens, long long d) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  for (int row = blockIdx.y; row < tokens; row += gridDim.y) {
    float sum = 0.0f;
    if (i < d) {
      sum = __half2float(x[row * d + i]) + __half2float(residual[row * d + i]);
      residual[row * d + i] = __float2half_rn(sum);
    }
    float square = sum * sum;
    for (int k = 16; k > 0; k /= 2) square += __shfl_xor_sync(0xffffffffu, square, k);
    if (threadIdx.x % 32 == 0) atomicAdd(squares + row, square);
  }
}

__global__ void scale(__half* x, const __half* residual, const __half* weight, const float* squares, int tokens,
                      long long d, float eps) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  for (int row = blockIdx.y; row < tokens; row += gridDim.y) {
    if (i >= d) continue;
    const float factor = rsqrtf(squares[row] / static_cast<float>(d) + eps);
    x[row * d + i] = __float2half_rn(__half2float(residual[row * d + i]) * factor * __half2float(weight[i]));
  }
}
