// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to conv2d, in double: one thread a result.
/*hone
[[launch]]
kernel = "conv2d_oracle"
grid   = ["ceil_div(batch * max(0, (height + 2 * padding - kernel + step) / step) * max(0, (width + 2 * padding - kernel + step) / step) * filters, 128)"]
block  = ["128"]
args   = ["image", "weight", "bias", "ref:out",
          "batch * max(0, (height + 2 * padding - kernel + step) / step) * max(0, (width + 2 * padding - kernel + step) / step) * filters:i64",
          "height:i64", "width:i64", "channels:i64", "filters:i64", "kernel:i64", "step:i64", "padding:i64",
          "max(0, (height + 2 * padding - kernel + step) / step):i64", "max(0, (width + 2 * padding - kernel + step) / step):i64"]
*/
#include <cuda_bf16.h>

// The linter compiles the oracle again with other definitions of these, to see what a kernel of lower
// precision would answer: the type sums are kept in, how inputs are read, how intermediate values are kept.
#ifndef HONE_ORACLE_ACC
#define HONE_ORACLE_ACC double
#endif
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
#ifndef HONE_ORACLE_MID
#define HONE_ORACLE_MID(x) (x)
#endif

__global__ void conv2d_oracle(const __nv_bfloat16* image, const __nv_bfloat16* weight, const __nv_bfloat16* bias, double* out, long long count,
                              long long height, long long width, long long channels, long long filters, long long kernel, long long step,
                              long long padding, long long out_height, long long out_width) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const long long o = n % filters, x = n / filters % out_width, y = n / filters / out_width % out_height, b = n / filters / out_width / out_height;
  HONE_ORACLE_ACC sum = 0;
  sum += HONE_ORACLE_IN(__bfloat162float(bias[o]));
  for (long long i = 0; i < kernel; ++i) {
    for (long long j = 0; j < kernel; ++j) {
      const long long row = y * step - padding + i, column = x * step - padding + j;
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      for (long long c = 0; c < channels; ++c) {
        sum += HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(weight[((o * kernel + i) * kernel + j) * channels + c])) *
                               HONE_ORACLE_IN(__bfloat162float(image[((b * height + row) * width + column) * channels + c])));
      }
    }
  }
  out[n] = static_cast<double>(sum);
}
