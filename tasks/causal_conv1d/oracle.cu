// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to causal_conv1d, in double: one thread a result. A sum of a few terms loses less in float16 than the
// rounding of the result, so the type of sums is not asked about.
/*hone
[[launch]]
kernel = "causal_conv1d_oracle"
grid   = ["ceil_div(batch * channels * length, 128)"]
block  = ["128"]
args   = ["x", "weight", "bias", "ref:out", "batch * channels * length:i64", "channels:i64", "length:i64", "width:i64"]
*/
#include <cuda_bf16.h>

// The linter compiles the oracle again with other definitions of these, to see what a kernel of lower
// precision would answer: how inputs are read, how intermediate values are kept.
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
#ifndef HONE_ORACLE_MID
#define HONE_ORACLE_MID(x) (x)
#endif

__global__ void causal_conv1d_oracle(const __nv_bfloat16* x, const __nv_bfloat16* weight, const __nv_bfloat16* bias,
                                     double* out, long long count, long long channels, long long length,
                                     long long width) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const long long row = n / length, token = n % length, channel = row % channels;
  double sum = HONE_ORACLE_IN(__bfloat162float(bias[channel]));
  for (long long w = 0; w < width; ++w) {
    const long long from = token - (width - 1) + w;
    if (from < 0) continue;
    sum += HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(weight[channel * width + w])) *
                           HONE_ORACLE_IN(__bfloat162float(x[row * length + from])));
  }
  out[n] = sum * HONE_ORACLE_MID(1.0 / (1.0 + exp(-sum)));
}
