// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to relu: one thread an output.
/*hone
[[launch]]
kernel = "relu_oracle"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "ref:out", "rows * d:i64"]
*/

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

__global__ void relu_oracle(const float* x, double* out, long long elements) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const double value = HONE_ORACLE_MID(HONE_ORACLE_IN(x[i]));
  out[i] = value > 0.0 ? value : 0.0;
}
