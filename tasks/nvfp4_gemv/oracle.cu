// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to nvfp4_gemv, in double: one thread for a result.
/*hone
[[launch]]
kernel = "nvfp4_gemv_oracle"
grid   = ["ceil_div(batch * m, 64)"]
block  = ["64"]
args   = ["a", "a_scale", "b", "b_scale", "ref:y", "batch * m:i64", "m:i64", "pairs:i64"]
*/
#include <cuda_fp8.h>

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

// Sign, two bits of exponent, one of mantissa: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
__device__ double FloatOf(unsigned code) {
  const unsigned exponent = (code >> 1) & 3u, mantissa = code & 1u;
  const double magnitude = exponent == 0 ? 0.5 * mantissa : (1.0 + 0.5 * mantissa) * static_cast<double>(1u << (exponent - 1));
  return (code & 8u) != 0 ? -magnitude : magnitude;
}

__global__ void nvfp4_gemv_oracle(const unsigned char* a, const __nv_fp8_e4m3* a_scale, const unsigned char* b, const __nv_fp8_e4m3* b_scale,
                                  double* y, long long rows, long long m, long long pairs) {
  const long long row = static_cast<long long>(blockIdx.x) * 64 + threadIdx.x;
  if (row >= rows) return;
  const long long blocks = (pairs + 7) / 8, l = row / m;
  HONE_ORACLE_ACC sum = 0;
  for (long long t = 0; t < blocks; ++t) {
    HONE_ORACLE_ACC part = 0;
    for (long long i = t * 8; i < pairs && i < t * 8 + 8; ++i) {
      const unsigned left = a[row * pairs + i], right = b[l * pairs + i];
      part += HONE_ORACLE_MID(HONE_ORACLE_IN(FloatOf(left & 15u)) * HONE_ORACLE_IN(FloatOf(right & 15u)));
      part += HONE_ORACLE_MID(HONE_ORACLE_IN(FloatOf(left >> 4)) * HONE_ORACLE_IN(FloatOf(right >> 4)));
    }
    const double both = HONE_ORACLE_MID(HONE_ORACLE_IN(a_scale[row * blocks + t]) * HONE_ORACLE_IN(b_scale[l * blocks + t]));
    sum += HONE_ORACLE_MID(static_cast<double>(part) * both);
  }
  y[row] = static_cast<double>(sum);
}
