// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread has eight neighbouring tokens of a channel, the eight before them at hand for the filter's reach. Other widths
// and lengths take one result to a thread.
/*hone
[tune]
BLOCK = [128, 256, 64]

[[launch]]
kernel = "convolve_eight"
grid   = ["ceil_div(batch * channels * (length / 8), BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "batch * channels * (length / 8):i64", "channels:i32", "length:i32"]
when   = "width == 4 && length % 8 == 0"

[[launch]]
kernel = "convolve"
grid   = ["ceil_div(batch * channels * length, BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "batch * channels * length:i64", "channels:i32", "length:i32", "width:i32"]
*/
#include <cuda_bf16.h>

struct alignas(16) Eight {
  __nv_bfloat16 x[8];
};

__device__ __forceinline__ float Silu(float x) { return x / (1.0f + __expf(-x)); }

__global__ void convolve_eight(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                               const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ out, long long count,
                               int channels, int length) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const int parts = length / 8, part = static_cast<int>(n % parts);
  const long long row = n / parts;
  const int channel = static_cast<int>(row % channels);
  const Eight now = *reinterpret_cast<const Eight*>(x + row * length + part * 8);
  Eight before = {};
  if (part > 0) before = *reinterpret_cast<const Eight*>(x + row * length + part * 8 - 8);
  float filter[4], tokens[11];
#pragma unroll
  for (int w = 0; w < 4; ++w) filter[w] = __bfloat162float(weight[channel * 4 + w]);
#pragma unroll
  for (int i = 0; i < 3; ++i) tokens[i] = part > 0 ? __bfloat162float(before.x[5 + i]) : 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) tokens[3 + i] = __bfloat162float(now.x[i]);
  const float offset = __bfloat162float(bias[channel]);
  Eight result;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float sum = offset;
#pragma unroll
    for (int w = 0; w < 4; ++w) sum += filter[w] * tokens[i + w];
    result.x[i] = __float2bfloat16(Silu(sum));
  }
  *reinterpret_cast<Eight*>(out + row * length + part * 8) = result;
}

__global__ void convolve(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                         const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ out, long long count,
                         int channels, int length, int width) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const long long row = n / length;
  const int token = static_cast<int>(n % length), channel = static_cast<int>(row % channels);
  float sum = __bfloat162float(bias[channel]);
  for (int w = 0; w < width; ++w) {
    const int from = token - (width - 1) + w;
    if (from >= 0) sum += __bfloat162float(weight[channel * width + w]) * __bfloat162float(x[row * length + from]);
  }
  out[n] = __float2bfloat16(Silu(sum));
}
