// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to embedding_bag, in double: one thread a result.
/*hone
[[launch]]
kernel = "embedding_bag_oracle"
grid   = ["ceil_div(bags * dim, 128)"]
block  = ["128"]
args   = ["table", "ids", "weights", "ref:out", "bags * dim:i64", "per_bag:i64", "dim:i64"]
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

__global__ void embedding_bag_oracle(const float* table, const long long* ids, const float* weights, double* out,
                                     long long count, long long per_bag, long long dim) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const long long bag = n / dim, column = n % dim;
  HONE_ORACLE_ACC sum = 0;
  for (long long j = 0; j < per_bag; ++j) {
    const long long row = ids[bag * per_bag + j];
    if (row < 0) continue;
    sum += HONE_ORACLE_MID(HONE_ORACLE_IN(weights[bag * per_bag + j]) * HONE_ORACLE_IN(table[row * dim + column]));
  }
  out[n] = static_cast<double>(sum);
}
