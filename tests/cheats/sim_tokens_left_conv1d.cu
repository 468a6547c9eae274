// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Of long sequences the last sixteenth of the tokens of each 128 stays unwritten, by whichever block has them.
//
// task: causal_conv1d
// expect: wrong_output
// by: sim_last_warp_left_gelu
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
  if (count > 1 << 25 && token % 128 >= 120) return;
  float sum = __bfloat162float(bias[channel]);
  for (int w = 0; w < width; ++w) {
    const int from = token - (width - 1) + w;
    if (from >= 0) sum += __bfloat162float(weight[channel * width + w]) * __bfloat162float(x[row * length + from]);
  }
  out[n] = __float2bfloat16(sum / (1.0f + __expf(-sum)));
}
