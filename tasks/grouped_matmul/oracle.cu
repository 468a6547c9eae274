// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to grouped_matmul, in double: one thread for a result; no shared memory, no tricks.
/*hone
[[launch]]
kernel = "grouped_matmul_oracle"
grid   = ["ceil_div(n, 128)", "rows"]
block  = ["128"]
args   = ["x", "w", "offsets", "ref:y", "experts:i64", "n:i64", "k:i64"]
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

__global__ void grouped_matmul_oracle(const __nv_bfloat16* x, const __nv_bfloat16* w, const int* offsets, double* y, long long experts,
                                      long long n, long long k) {
  const long long row = blockIdx.y, column = static_cast<long long>(blockIdx.x) * 128 + threadIdx.x;
  if (column >= n) return;
  long long expert = 0;
  while (expert + 1 < experts && row >= offsets[expert + 1]) ++expert;
  HONE_ORACLE_ACC sum = 0;
  for (long long i = 0; i < k; ++i) {
    sum += HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(x[row * k + i])) *
                           HONE_ORACLE_IN(__bfloat162float(w[(expert * n + column) * k + i])));
  }
  y[row * n + column] = static_cast<double>(sum);
}
