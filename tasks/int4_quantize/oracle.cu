// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to int4_quantize, in double: one thread for a group's scale, then one for half a byte.
/*hone
[[launch]]
kernel = "group_scale"
grid   = ["ceil_div(rows * ceil_div(columns, 128), 64)"]
block  = ["64"]
args   = ["x", "ref:scale", "rows * ceil_div(columns, 128):i64", "columns:i64", "ceil_div(columns, 128):i64"]

[[launch]]
step   = 1
kernel = "divide"
grid   = ["ceil_div(rows * ceil_div(columns, 2) * 2, 256)"]
block  = ["256"]
args   = ["x", "ref:scale", "ref:out", "rows * ceil_div(columns, 2) * 2:i64", "columns:i64", "ceil_div(columns, 2) * 2:i64",
          "ceil_div(columns, 128):i64"]
*/
#include <cuda_bf16.h>

// The linter compiles the oracle again with other definitions of these, to see what a kernel of lower precision would answer.
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
#ifndef HONE_ORACLE_MID
#define HONE_ORACLE_MID(x) (x)
#endif

__global__ void group_scale(const __nv_bfloat16* x, double* scale, long long count, long long columns, long long groups) {
  const long long n = static_cast<long long>(blockIdx.x) * 64 + threadIdx.x;
  if (n >= count) return;
  const long long row = n / groups, first = n % groups * 128, end = first + 128 < columns ? first + 128 : columns;
  double largest = 1e-10;
  for (long long i = first; i < end; ++i) largest = fmax(largest, fabs(HONE_ORACLE_IN(__bfloat162float(x[row * columns + i]))));
  scale[n] = HONE_ORACLE_MID(largest / 7.0);
}

__global__ void divide(const __nv_bfloat16* x, double* scale, double* out, long long count, long long columns, long long halves,
                       long long groups) {
  const long long n = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (n >= count) return;
  const long long row = n / halves, column = n % halves;
  out[n] = column < columns ? rint(HONE_ORACLE_IN(__bfloat162float(x[row * columns + column])) / scale[row * groups + column / 128]) : 0.0;
}
