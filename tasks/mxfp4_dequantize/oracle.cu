// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to mxfp4_dequantize, in double: one thread for a byte.
/*hone
[[launch]]
kernel = "mxfp4_dequantize_oracle"
grid   = ["ceil_div(rows * pairs, 256)"]
block  = ["256"]
args   = ["w", "scale", "ref:out", "rows:i64", "pairs:i64"]
*/
#include <cuda_fp8.h>

// The linter compiles the oracle again with other definitions of these, to see what a kernel of lower precision would answer.
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

__global__ void mxfp4_dequantize_oracle(const unsigned char* w, const __nv_fp8_e8m0* scale, double* out, long long rows, long long pairs) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= rows * pairs) return;
  const double of_block = HONE_ORACLE_IN(scale[i / pairs * ((pairs + 15) / 16) + i % pairs / 16]);
  out[2 * i] = HONE_ORACLE_MID(HONE_ORACLE_IN(FloatOf(w[i] & 15u)) * of_block);
  out[2 * i + 1] = HONE_ORACLE_MID(HONE_ORACLE_IN(FloatOf(w[i] >> 4)) * of_block);
}
