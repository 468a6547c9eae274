// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to w4a16_matmul, in double: one thread for four results of a column; no shared memory, no tricks.
/*hone
[[launch]]
kernel = "w4a16_matmul_oracle"
grid   = ["ceil_div(m, 4) * ceil_div(n, 128)"]
block  = ["128"]
args   = ["x", "w", "scale", "ref:y", "m:i64", "n:i64", "pairs:i64"]
*/
#include <cuda_bf16.h>
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

constexpr int kRows = 4;
constexpr long long kGroup = 64;  // bytes that share a scale

__device__ double IntegerOf(unsigned code) { return static_cast<double>(static_cast<int>(code ^ 8u) - 8); }

__global__ void w4a16_matmul_oracle(const __nv_bfloat16* x, const unsigned char* w, const __half* scale, double* y, long long m,
                                    long long n, long long pairs) {
  const long long columns_of_blocks = (n + 127) / 128, groups = (pairs + kGroup - 1) / kGroup;
  const long long first_row = blockIdx.x / columns_of_blocks * kRows;
  const long long column = blockIdx.x % columns_of_blocks * 128 + threadIdx.x;
  if (column >= n) return;
  HONE_ORACLE_ACC sum[kRows];
  for (int r = 0; r < kRows; ++r) sum[r] = 0;
  for (long long t = 0; t < groups; ++t) {
    HONE_ORACLE_ACC part[kRows];
    for (int r = 0; r < kRows; ++r) part[r] = 0;
    for (long long i = t * kGroup; i < pairs && i < (t + 1) * kGroup; ++i) {
      const unsigned both = w[column * pairs + i];
      const double first = HONE_ORACLE_IN(IntegerOf(both & 15u)), second = HONE_ORACLE_IN(IntegerOf(both >> 4));
      for (int r = 0; r < kRows; ++r) {
        if (first_row + r >= m) continue;
        const long long at = (first_row + r) * 2 * pairs + 2 * i;
        part[r] += HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(x[at])) * first);
        part[r] += HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(x[at + 1])) * second);
      }
    }
    const double of_group = HONE_ORACLE_IN(__half2float(scale[column * groups + t]));
    for (int r = 0; r < kRows; ++r) sum[r] += HONE_ORACLE_MID(static_cast<double>(part[r]) * of_group);
  }
  for (int r = 0; r < kRows; ++r) {
    if (first_row + r < m) y[(first_row + r) * n + column] = static_cast<double>(sum[r]);
  }
}
