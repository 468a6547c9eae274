// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to fp8_block_matmul, in double: one thread for four results of a column, so that an element of b is
// converted once for four products; no shared memory, no tricks.
/*hone
[[launch]]
kernel = "fp8_block_matmul_oracle"
grid   = ["ceil_div(m, 4) * ceil_div(n, 128)"]
block  = ["128"]
args   = ["a", "a_scale", "b", "b_scale", "ref:c", "m:i64", "n:i64", "k:i64"]
*/
#include <cuda_fp8.h>

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
constexpr long long kBlock = 128;

__global__ void fp8_block_matmul_oracle(const __nv_fp8_e4m3* a, const float* a_scale, const __nv_fp8_e4m3* b,
                                        const float* b_scale, double* c, long long m, long long n, long long k) {
  const long long columns_of_blocks = (n + 127) / 128, scales = (k + kBlock - 1) / kBlock;
  const long long first_row = blockIdx.x / columns_of_blocks * kRows;
  const long long column = blockIdx.x % columns_of_blocks * 128 + threadIdx.x;
  if (column >= n) return;
  HONE_ORACLE_ACC sum[kRows];
  for (int r = 0; r < kRows; ++r) sum[r] = 0;
  for (long long t = 0; t < scales; ++t) {
    HONE_ORACLE_ACC part[kRows];
    for (int r = 0; r < kRows; ++r) part[r] = 0;
    for (long long i = t * kBlock; i < k && i < (t + 1) * kBlock; ++i) {
      const double right = HONE_ORACLE_IN(b[column * k + i]);
      for (int r = 0; r < kRows; ++r) {
        if (first_row + r < m) part[r] += HONE_ORACLE_MID(HONE_ORACLE_IN(a[(first_row + r) * k + i]) * right);
      }
    }
    const double of_column = HONE_ORACLE_IN(b_scale[column / kBlock * scales + t]);
    for (int r = 0; r < kRows; ++r) {
      if (first_row + r < m) {
        const double of_row = HONE_ORACLE_IN(a_scale[(first_row + r) * scales + t]);
        sum[r] += HONE_ORACLE_MID(static_cast<double>(part[r]) * HONE_ORACLE_MID(of_row * of_column));
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    if (first_row + r < m) c[(first_row + r) * n + column] = static_cast<double>(sum[r]);
  }
}
