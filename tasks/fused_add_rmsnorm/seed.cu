// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// fused_add_rmsnorm as one would write it first: a block a row. The first pass adds, stores the residual and
// gathers the squares; after a block-wide sum the second pass reads back what this same thread has stored.
/*hone
[tune]
BLOCK = [512, 128, 256, 1024]

[[launch]]
kernel = "fused_add_rmsnorm<8>"
grid   = ["min(tokens, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
when   = "d % 8 == 0"

[[launch]]
kernel = "fused_add_rmsnorm<1>"
grid   = ["min(tokens, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
*/
#include <cuda_fp16.h>

// kWidth consecutive float16 in one load or store.
template <int kWidth>
struct Pack;
template <>
struct Pack<8> {
  using Type = uint4;
};
template <>
struct Pack<1> {
  using Type = __half;
};

// The sum over the block, in every thread. `lanes` holds a value a warp; block size is a multiple of 32.
__device__ __forceinline__ float BlockSum(float value, float* lanes) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? lanes[threadIdx.x % 32] : 0.0f;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();  // `lanes` may be used again
  return value;
}

// d is a multiple of kWidth.
template <int kWidth>
__global__ void fused_add_rmsnorm(__half* __restrict__ x, __half* __restrict__ residual,
                                  const __half* __restrict__ weight, long long tokens, long long d, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float lanes[32];
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    Vector* x_row = reinterpret_cast<Vector*>(x + row * d);
    Vector* residual_row = reinterpret_cast<Vector*>(residual + row * d);
    const Vector* weights = reinterpret_cast<const Vector*>(weight);

    float squares = 0.0f;
    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector added = x_row[i];
      Vector sum = residual_row[i];
      const __half* a = reinterpret_cast<const __half*>(&added);
      __half* s = reinterpret_cast<__half*>(&sum);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        const float value = __half2float(a[j]) + __half2float(s[j]);
        s[j] = __float2half_rn(value);
        squares += value * value;
      }
      residual_row[i] = sum;
    }
    const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);

    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector sum = residual_row[i];
      const Vector weight_pack = weights[i];
      Vector result;
      const __half* s = reinterpret_cast<const __half*>(&sum);
      const __half* w = reinterpret_cast<const __half*>(&weight_pack);
      __half* r = reinterpret_cast<__half*>(&result);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) r[j] = __float2half_rn(__half2float(s[j]) * scale * __half2float(w[j]));
      x_row[i] = result;
    }
  }
}
