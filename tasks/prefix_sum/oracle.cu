// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to prefix_sum, in double. A row is cut into parts of 2048: one thread sums a part, one adds up the
// parts before each, one writes a part's running sums.
/*hone
[[workspace]]
name = "part"
bytes = "rows * ceil_div(length, 2048) * 8"

[[launch]]
kernel = "sum_parts"
grid   = ["ceil_div(rows * ceil_div(length, 2048), 32)"]
block  = ["32"]
args   = ["x", "part", "rows * ceil_div(length, 2048):i64", "length:i64"]

[[launch]]
step   = 1
kernel = "sums_before"
grid   = ["ceil_div(rows, 32)"]
block  = ["32"]
args   = ["part", "rows:i64", "ceil_div(length, 2048):i64"]

[[launch]]
step   = 2
kernel = "running_sums"
grid   = ["ceil_div(rows * ceil_div(length, 2048), 32)"]
block  = ["32"]
args   = ["x", "part", "ref:out", "rows * ceil_div(length, 2048):i64", "length:i64"]
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

constexpr long long kPart = 2048;

__global__ void sum_parts(const float* x, double* part, long long parts, long long length) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= parts) return;
  const long long of_row = (length + kPart - 1) / kPart, row = n / of_row, begin = n % of_row * kPart;
  HONE_ORACLE_ACC sum = 0;
  for (long long i = begin; i < length && i < begin + kPart; ++i) sum += HONE_ORACLE_MID(HONE_ORACLE_IN(x[row * length + i]));
  part[n] = static_cast<double>(sum);
}

__global__ void sums_before(double* part, long long rows, long long of_row) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  HONE_ORACLE_ACC sum = 0;
  for (long long p = 0; p < of_row; ++p) {
    const double own = part[row * of_row + p];
    part[row * of_row + p] = static_cast<double>(sum);
    sum += own;
  }
}

__global__ void running_sums(const float* x, const double* part, double* out, long long parts, long long length) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= parts) return;
  const long long of_row = (length + kPart - 1) / kPart, row = n / of_row, begin = n % of_row * kPart;
  HONE_ORACLE_ACC sum = 0;
  sum += part[n];
  for (long long i = begin; i < length && i < begin + kPart; ++i) {
    sum += HONE_ORACLE_MID(HONE_ORACLE_IN(x[row * length + i]));
    out[row * length + i] = static_cast<double>(sum);
  }
}
