// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to gather_mean: one thread an output, the sum in double.
/*hone
[[launch]]
kernel = "gather_mean_oracle"
grid   = ["ceil_div(num_dst * dim, 256)"]
block  = ["256"]
args   = ["x", "index", "ref:out", "num_dst * dim:i64", "fanout:i64", "dim:i64"]
*/
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

__global__ void gather_mean_oracle(const __half* x, const int* index, double* out, long long elements,
                                   long long fanout, long long dim) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long vertex = i / dim;
  HONE_ORACLE_ACC sum = 0;
  for (long long j = 0; j < fanout; ++j) {
    const long long neighbor = index[vertex * fanout + j];
    sum += HONE_ORACLE_IN(__half2float(x[neighbor * dim + i % dim]));
  }
  out[i] = fanout > 0 ? HONE_ORACLE_MID(static_cast<double>(sum)) / static_cast<double>(fanout) : 0.0;
}
