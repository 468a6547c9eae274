// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to matmul_bf16, in double: one thread for four results of a column, so that an element of b is
// converted once for four products; no shared memory, no tricks.
/*hone
[[launch]]
kernel = "matmul_bf16_oracle"
grid   = ["ceil_div(m, 4) * ceil_div(n, 128)"]
block  = ["128"]
args   = ["a", "b", "ref:c", "m:i64", "n:i64", "k:i64"]
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

constexpr int kRows = 4;

__global__ void matmul_bf16_oracle(const __nv_bfloat16* a, const __nv_bfloat16* b, double* c, long long m, long long n,
                                   long long k) {
  const long long columns_of_blocks = (n + 127) / 128;
  const long long first_row = blockIdx.x / columns_of_blocks * kRows;
  const long long column = blockIdx.x % columns_of_blocks * 128 + threadIdx.x;
  if (column >= n) return;
  HONE_ORACLE_ACC sum[kRows];
  for (int r = 0; r < kRows; ++r) sum[r] = 0;
  for (long long i = 0; i < k; ++i) {
    const double right = HONE_ORACLE_IN(__bfloat162float(b[i * n + column]));
    for (int r = 0; r < kRows; ++r) {
      if (first_row + r < m) {
        sum[r] += HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(a[(first_row + r) * k + i])) * right);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    if (first_row + r < m) c[(first_row + r) * n + column] = static_cast<double>(sum[r]);
  }
}
