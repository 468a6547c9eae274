// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to mxfp4_quantize, in double: one thread for a block's scale, then one for a number. Numbers are not rounded here:
// they are what a kernel's must lie nearest to.
/*hone
[[launch]]
kernel = "block_scale"
grid   = ["ceil_div(rows * ceil_div(pairs, 16), 64)"]
block  = ["64"]
args   = ["x", "ref:scale", "rows * ceil_div(pairs, 16):i64", "2 * pairs:i64", "ceil_div(pairs, 16):i64"]

[[launch]]
step   = 1
kernel = "divide"
grid   = ["ceil_div(rows * pairs * 2, 256)"]
block  = ["256"]
args   = ["x", "ref:scale", "ref:out", "rows * pairs * 2:i64", "2 * pairs:i64", "ceil_div(pairs, 16):i64"]
*/
#include <cuda_bf16.h>

// The linter compiles the oracle again with other definitions of these, to see what a kernel of lower precision would answer.
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
#ifndef HONE_ORACLE_MID
#define HONE_ORACLE_MID(x) (x)
#endif

__global__ void block_scale(const __nv_bfloat16* x, double* scale, long long count, long long columns, long long blocks) {
  const long long n = static_cast<long long>(blockIdx.x) * 64 + threadIdx.x;
  if (n >= count) return;
  const long long row = n / blocks, first = n % blocks * 32, end = first + 32 < columns ? first + 32 : columns;
  double largest = 0;
  for (long long i = first; i < end; ++i) largest = fmax(largest, fabs(HONE_ORACLE_IN(__bfloat162float(x[row * columns + i]))));
  int exponent = -127;  // of the scale
  if (largest > 0) {
    int above;
    frexp(largest, &above);  // largest = m * 2^above with m from 0.5 to 1
    exponent = above - 3 > -127 ? above - 3 : -127;
  }
  scale[n] = ldexp(1.0, exponent);
}

__global__ void divide(const __nv_bfloat16* x, double* scale, double* out, long long count, long long columns, long long blocks) {
  const long long n = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (n >= count) return;
  out[n] = HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(x[n])) / scale[n / columns * blocks + n % columns / 32]);
}
