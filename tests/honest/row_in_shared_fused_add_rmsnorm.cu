// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum stays in dynamic shared memory, as float32 pairs, up to 160 KB a block; half2 packing throughout where rows allow it.
//
// task: fused_add_rmsnorm
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "fused<true>"
grid   = ["min(tokens, 2147483647)"]
block  = ["256"]
shared = "d * 4"
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
when   = "d % 2 == 0 && d * 4 <= 160000"

[[launch]]
kernel = "fused<false>"
grid   = ["min(tokens, 2147483647)"]
block  = ["256"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
*/
#include <cuda_fp16.h>

__device__ __forceinline__ float BlockSum(float v, float* lanes) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(~0u, v, offset);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = v;
  __syncthreads();
  float all = 0.0f;
  for (int i = 0; i < 8; ++i) all += lanes[i];
  __syncthreads();
  return all;
}

template <bool kPairs>
__global__ void fused(__half* __restrict__ x, __half* __restrict__ residual, const __half* __restrict__ weight, long long tokens,
                      long long d, float eps) {
  extern __shared__ float2 row_of[];
  __shared__ float lanes[8];
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    float squares = 0.0f;
    if constexpr (kPairs) {
      __half2* to = reinterpret_cast<__half2*>(residual + row * d);
      __half2* x_row = reinterpret_cast<__half2*>(x + row * d);
      for (long long i = threadIdx.x; i < d / 2; i += 256) {
        const float2 a = __half22float2(x_row[i]), b = __half22float2(to[i]);
        const float2 sum = make_float2(a.x + b.x, a.y + b.y);
        row_of[i] = sum;
        to[i] = __float22half2_rn(sum);
        squares += sum.x * sum.x + sum.y * sum.y;
      }
      const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);
      for (long long i = threadIdx.x; i < d / 2; i += 256) {
        const float2 w = __half22float2(reinterpret_cast<const __half2*>(weight)[i]);
        x_row[i] = __floats2half2_rn(row_of[i].x * scale * w.x, row_of[i].y * scale * w.y);
      }
    } else {
      for (long long i = threadIdx.x; i < d; i += 256) {
        const float sum = __half2float(x[row * d + i]) + __half2float(residual[row * d + i]);
        residual[row * d + i] = __float2half_rn(sum);
        squares += sum * sum;
      }
      const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);
      for (long long i = threadIdx.x; i < d; i += 256) {
        x[row * d + i] = __float2half_rn(__half2float(residual[row * d + i]) * scale * __half2float(weight[i]));
      }
    }
  }
}
