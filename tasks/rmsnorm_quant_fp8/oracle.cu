// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to rmsnorm_quant_fp8, in double: a thread a row for its sum and its largest number, then one an
// element. What is above the range of float8_e4m3fn cannot come up, for a row's largest number becomes 448.
/*hone
[[workspace]]
name = "factor"
bytes = "tokens * 8"

[[launch]]
kernel = "row_scale"
grid   = ["ceil_div(tokens, 32)"]
block  = ["32"]
args   = ["x", "weight", "factor", "ref:scale", "tokens:i64", "d:i64", "eps:f64"]

[[launch]]
step   = 1
kernel = "quantize"
grid   = ["ceil_div(tokens * d, 128)"]
block  = ["128"]
args   = ["x", "weight", "factor", "ref:scale", "ref:out", "tokens * d:i64", "d:i64"]
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

__device__ double Element(const __nv_bfloat16* x, const __nv_bfloat16* weight, double factor, long long n, long long d) {
  const double scaled = HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(x[n])) * factor);
  return HONE_ORACLE_MID(scaled * HONE_ORACLE_IN(__bfloat162float(weight[n % d])));
}

__global__ void row_scale(const __nv_bfloat16* x, const __nv_bfloat16* weight, double* factor, double* scale,
                          long long tokens, long long d, double eps) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= tokens) return;
  HONE_ORACLE_ACC sum = 0;
  for (long long i = 0; i < d; ++i) {
    const double value = HONE_ORACLE_IN(__bfloat162float(x[row * d + i]));
    sum += HONE_ORACLE_MID(value * value);
  }
  const double mean = d > 0 ? static_cast<double>(sum) / static_cast<double>(d) : 0.0;
  factor[row] = HONE_ORACLE_MID(1.0 / sqrt(mean + eps));
  double largest = 0;
  for (long long i = 0; i < d; ++i) largest = fmax(largest, fabs(Element(x, weight, factor[row], row * d + i, d)));
  scale[row] = fmax(largest, 1e-10) / 448.0;
}

__global__ void quantize(const __nv_bfloat16* x, const __nv_bfloat16* weight, const double* factor, double* scale,
                         double* out, long long count, long long d) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n < count) out[n] = Element(x, weight, factor[n / d], n, d) / scale[n / d];
}
