// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to gather_mean_backward: one thread an output, the sum in double.
/*hone
[[launch]]
kernel = "gather_mean_backward_oracle"
grid   = ["ceil_div(num_src * dim, 128)"]
block  = ["128"]
args   = ["grad_out", "degree", "row_offsets", "slot", "ref:grad_x", "num_src * dim:i64", "fanout:i64", "dim:i64"]
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

__global__ void gather_mean_backward_oracle(const __nv_bfloat16* grad_out, const int* degree, const int* row_offsets,
                                            const int* slot, double* grad_x, long long elements, long long fanout,
                                            long long dim) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long source = i / dim;
  HONE_ORACLE_ACC sum = 0;
  for (long long t = row_offsets[source]; t < row_offsets[source + 1]; ++t) {
    const long long vertex = slot[t] / fanout;
    const long long drawn = degree[vertex] < fanout ? degree[vertex] : fanout;
    const double value = HONE_ORACLE_IN(__bfloat162float(grad_out[vertex * dim + i % dim]));
    sum += HONE_ORACLE_MID(value / static_cast<double>(drawn > 1 ? drawn : 1));
  }
  grad_x[i] = static_cast<double>(sum);
}
