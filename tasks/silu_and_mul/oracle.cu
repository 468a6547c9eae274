// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to silu_and_mul: one thread an output, everything in double.
/*hone
[[launch]]
kernel = "silu_and_mul_oracle"
grid   = ["ceil_div(tokens * d, 256)"]
block  = ["256"]
args   = ["x", "ref:out", "tokens * d:i64", "d:i64"]
*/
#include <cuda_fp16.h>

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

__global__ void silu_and_mul_oracle(const __half* x, double* out, long long elements, long long d) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long row = i / d;
  const double gate = HONE_ORACLE_IN(__half2float(x[row * 2 * d + i % d]));
  const double value = HONE_ORACLE_IN(__half2float(x[row * 2 * d + d + i % d]));
  const double silu = HONE_ORACLE_MID(gate / HONE_ORACLE_MID(1.0 + HONE_ORACLE_MID(exp(-gate))));
  const double result = silu * value;
  // From halfway past the largest float16 on, rounding gives infinity. NaN, which is infinity times 0, stays what it is.
  out[i] = fabs(result) >= 65520.0 ? copysign(__longlong_as_double(0x7ff0000000000000LL), result) : result;
}
