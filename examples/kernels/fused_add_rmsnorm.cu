// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// fused_add_rmsnorm that holds a row's sum in a block's registers: residual and x are each read and written once, and
// the weights are on their way while the block adds up its squares. EACH 16-byte vectors a thread, for the widths of
// which so many suffice; other widths fall to the next alternative.
/*hone
[tune]
BLOCK = [256, 128, 512, 1024]

[[launch]]
kernel = "fused_add_rmsnorm_block<1>"
grid   = ["d > 0 ? min(tokens, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d / 8 <= BLOCK"

[[launch]]
kernel = "fused_add_rmsnorm_block<2>"
grid   = ["min(tokens, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d / 8 <= 2 * BLOCK"

[[launch]]
kernel = "fused_add_rmsnorm_block<3>"
grid   = ["min(tokens, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d / 8 <= 3 * BLOCK"

[[launch]]
kernel = "fused_add_rmsnorm_block<4>"
grid   = ["min(tokens, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d / 8 <= 4 * BLOCK"

[[launch]]
kernel = "fused_add_rmsnorm_block<7>"
grid   = ["min(tokens, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d / 8 <= 7 * BLOCK"

[[launch]]
kernel = "fused_add_rmsnorm_any<8>"
grid   = ["min(tokens, 2147483647)"]
block  = ["1024"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
when   = "d % 8 == 0"

[[launch]]
kernel = "fused_add_rmsnorm_any<1>"
grid   = ["min(tokens, 2147483647)"]
block  = ["512"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
*/
#include <cuda_fp16.h>

namespace {

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

}  // namespace

// A block a row; d is a multiple of 8 and d / 8 <= kEach * blockDim.x.
template <int kEach>
__global__ void fused_add_rmsnorm_block(__half* __restrict__ x, __half* __restrict__ residual,
                                        const __half* __restrict__ weight, long long tokens, int d, float eps) {
  __shared__ float lanes[32];
  const int vectors = d / 8;
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    uint4* x_row = reinterpret_cast<uint4*>(x + row * d);
    uint4* residual_row = reinterpret_cast<uint4*>(residual + row * d);
    uint4 added[kEach], sums[kEach], weights[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vectors) {
        added[i] = __ldcs(x_row + at);
        sums[i] = __ldcs(residual_row + at);
      }
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vectors) weights[i] = __ldg(reinterpret_cast<const uint4*>(weight) + at);
    }
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vectors) {
        const __half2* a = reinterpret_cast<const __half2*>(&added[i]);
        __half2* s = reinterpret_cast<__half2*>(&sums[i]);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float2 p = __half22float2(a[j]), q = __half22float2(s[j]);
          const float2 value = make_float2(p.x + q.x, p.y + q.y);
          s[j] = __floats2half2_rn(value.x, value.y);
          squares += value.x * value.x + value.y * value.y;
        }
        __stcs(residual_row + at, sums[i]);
      }
    }
    const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vectors) {
        const __half2* s = reinterpret_cast<const __half2*>(&sums[i]);
        const __half2* w = reinterpret_cast<const __half2*>(&weights[i]);
        uint4 packed;
        __half2* result = reinterpret_cast<__half2*>(&packed);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float2 value = __half22float2(s[j]), by = __half22float2(w[j]);
          result[j] = __floats2half2_rn(value.x * scale * by.x, value.y * scale * by.y);
        }
        __stcs(x_row + at, packed);
      }
    }
  }
}

// Any width that is a multiple of kWidth: the sum is read back.
template <int kWidth>
__global__ void fused_add_rmsnorm_any(__half* __restrict__ x, __half* __restrict__ residual,
                                      const __half* __restrict__ weight, long long tokens, long long d, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float lanes[32];
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    Vector* x_row = reinterpret_cast<Vector*>(x + row * d);
    Vector* residual_row = reinterpret_cast<Vector*>(residual + row * d);
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
      const Vector weights = reinterpret_cast<const Vector*>(weight)[i];
      Vector packed;
      const __half* s = reinterpret_cast<const __half*>(&sum);
      const __half* w = reinterpret_cast<const __half*>(&weights);
      __half* r = reinterpret_cast<__half*>(&packed);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) r[j] = __float2half_rn(__half2float(s[j]) * scale * __half2float(w[j]));
      x_row[i] = packed;
    }
  }
}
