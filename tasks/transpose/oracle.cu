// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to transpose: one thread an output.
/*hone
[[launch]]
kernel = "transpose_oracle"
grid   = ["ceil_div(rows * columns, 256)"]
block  = ["256"]
args   = ["x", "ref:out", "rows:i64", "columns:i64"]
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

__global__ void transpose_oracle(const float* x, double* out, long long rows, long long columns) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const long long column = i / rows;
  const long long row = i % rows;
  out[i] = HONE_ORACLE_MID(HONE_ORACLE_IN(x[row * columns + column]));
}
