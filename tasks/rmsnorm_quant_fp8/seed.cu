// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block has a row and keeps it in registers between the sum, the largest number and the rounding: PARTS times eight
// elements to a thread. Wide rows, and rows that are no multiple of eight, are read three times.
/*hone
[tune]
BLOCK = [256, 512, 1024]

[[launch]]
kernel = "quantize<1>"
grid   = ["tokens"]
block  = ["BLOCK"]
args   = ["x", "weight", "out", "scale", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d <= BLOCK * 8"

[[launch]]
kernel = "quantize<4>"
grid   = ["tokens"]
block  = ["BLOCK"]
args   = ["x", "weight", "out", "scale", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d <= BLOCK * 32"

[[launch]]
kernel = "quantize_any"
grid   = ["tokens"]
block  = ["BLOCK"]
args   = ["x", "weight", "out", "scale", "d:i32", "eps:f32"]
*/
#include <cuda_bf16.h>
#include <cuda_fp8.h>

struct alignas(16) Eight {
  __nv_bfloat16 x[8];
};

// The sum or the largest of all threads' values, known to each of them.
template <bool kLargest>
__device__ __forceinline__ float Join(float value, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = kLargest ? fmaxf(value, other) : value + other;
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int w = 1; w < static_cast<int>(blockDim.x / 32); ++w) value = kLargest ? fmaxf(value, shared[w]) : value + shared[w];
  __syncthreads();
  return value;
}

template <int kParts>
__global__ void quantize(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                         __nv_fp8_e4m3* __restrict__ out, float* __restrict__ scale, int d, float eps) {
  __shared__ float shared[32];
  const long long row = static_cast<long long>(blockIdx.x) * d;
  float values[kParts][8];
  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    const int i = (p * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * 8;
    Eight part = {};
    if (i < d) part = *reinterpret_cast<const Eight*>(x + row + i);
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      values[p][e] = i < d ? __bfloat162float(part.x[e]) : 0.0f;
      sum += values[p][e] * values[p][e];
    }
  }
  const float factor = rsqrtf(Join<false>(sum, shared) / static_cast<float>(d) + eps);
  float largest = 0.0f;
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    const int i = (p * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * 8;
    if (i < d) {
      const Eight part = *reinterpret_cast<const Eight*>(weight + i);
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        values[p][e] *= factor * __bfloat162float(part.x[e]);
        largest = fmaxf(largest, fabsf(values[p][e]));
      }
    }
  }
  const float of_row = fmaxf(Join<true>(largest, shared), 1e-10f) / 448.0f;
  const float inverse = 1.0f / of_row;
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    const int i = (p * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * 8;
    if (i < d) {
      const __nv_fp8x4_e4m3 low(make_float4(values[p][0] * inverse, values[p][1] * inverse, values[p][2] * inverse,
                                            values[p][3] * inverse));
      const __nv_fp8x4_e4m3 high(make_float4(values[p][4] * inverse, values[p][5] * inverse, values[p][6] * inverse,
                                             values[p][7] * inverse));
      *reinterpret_cast<uint2*>(out + row + i) = make_uint2(low.__x, high.__x);
    }
  }
  if (threadIdx.x == 0) scale[blockIdx.x] = of_row;
}

__global__ void quantize_any(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                             __nv_fp8_e4m3* __restrict__ out, float* __restrict__ scale, int d, float eps) {
  __shared__ float shared[32];
  const long long row = static_cast<long long>(blockIdx.x) * d;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    const float value = __bfloat162float(x[row + i]);
    sum += value * value;
  }
  const float factor = rsqrtf((d > 0 ? Join<false>(sum, shared) / static_cast<float>(d) : 0.0f) + eps);
  float largest = 0.0f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    largest = fmaxf(largest, fabsf(__bfloat162float(x[row + i]) * factor * __bfloat162float(weight[i])));
  }
  const float of_row = fmaxf(Join<true>(largest, shared), 1e-10f) / 448.0f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    out[row + i] = __nv_fp8_e4m3(__bfloat162float(x[row + i]) * factor * __bfloat162float(weight[i]) / of_row);
  }
  if (threadIdx.x == 0) scale[blockIdx.x] = of_row;
}
