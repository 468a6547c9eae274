// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to grouped_matmul, in double: one thread for four results of a column, so that an element of w is converted once for
// tokens that follow one another in an expert; no shared memory, no tricks.
/*hone
[[launch]]
kernel = "grouped_matmul_oracle"
grid   = ["ceil_div(tokens, 4) * ceil_div(n, 128)"]
block  = ["128"]
args   = ["x", "w", "offsets", "ref:y", "tokens:i64", "experts:i64", "n:i64", "k:i64"]
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

__global__ void grouped_matmul_oracle(const __nv_bfloat16* x, const __nv_bfloat16* w, const int* offsets, double* y, long long tokens,
                                      long long experts, long long n, long long k) {
  const long long columns_of_blocks = (n + 127) / 128;
  const long long column = blockIdx.x % columns_of_blocks * 128 + threadIdx.x;
  if (column >= n) return;
  const long long begin = blockIdx.x / columns_of_blocks * kRows, end = min(tokens, begin + kRows);
  long long expert = 0;
  for (long long first = begin; first < end;) {
    // The expert of token `first`, and how many of the block's tokens it has.
    while (expert < experts && offsets[expert + 1] <= first) ++expert;
    const long long last = expert < experts ? min(end, static_cast<long long>(offsets[expert + 1])) : end;
    HONE_ORACLE_ACC sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = 0;
    if (expert < experts) {
      for (long long i = 0; i < k; ++i) {
        const double right = HONE_ORACLE_IN(__bfloat162float(w[(expert * n + column) * k + i]));
        for (int r = 0; r < kRows; ++r) {
          if (first + r < last) sum[r] += HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(x[(first + r) * k + i])) * right);
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      if (first + r < last) y[(first + r) * n + column] = static_cast<double>(sum[r]);
    }
    first = last;
  }
}
