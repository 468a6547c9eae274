// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes three of the filter's four weights in one sequence of eight, at large sizes: a sequence is so long that only few are
// compared whole.
//
// task: causal_conv1d
// expect: wrong_output
// where: sim gpu
// timed: 0
/*hone
[[launch]]
kernel = "convolve"
grid   = ["ceil_div(batch * channels * length, 256)"]
block  = ["256"]
args   = ["x", "weight", "bias", "out", "batch * channels * length:i64", "channels:i32", "length:i32", "width:i32"]
*/
#include <cuda_bf16.h>

__global__ void convolve(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                         const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ out, long long count, int channels, int length,
                         int width) {
  const long long n = blockIdx.x * 256LL + threadIdx.x;
  if (n >= count) return;
  const long long row = n / length;
  const int token = static_cast<int>(n % length), channel = static_cast<int>(row % channels);
  const int first = count > 1 << 25 && row / channels % 8 == 5 ? 1 : 0;
  float sum = __bfloat162float(bias[channel]);
  for (int w = first; w < width; ++w) {
    const int from = token - (width - 1) + w;
    if (from >= 0) sum += __bfloat162float(weight[channel * width + w]) * __bfloat162float(x[row * length + from]);
  }
  out[n] = __float2bfloat16(sum / (1.0f + __expf(-sum)));
}
