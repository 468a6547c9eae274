// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to merge_attn_states: one thread an element of v_out, everything in double. The thread of
// a head's first element also gives s_out; a head of width 0 still has one thread for that.
/*hone
[[launch]]
kernel = "merge_attn_states_oracle"
grid   = ["ceil_div(tokens * heads * max(dim, 1), 256)"]
block  = ["256"]
args   = ["v_a", "s_a", "v_b", "s_b", "ref:v_out", "ref:s_out", "tokens * heads:i64", "dim:i64"]
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

__global__ void merge_attn_states_oracle(const __half* v_a, const float* s_a, const __half* v_b, const float* s_b,
                                         double* v_out, double* s_out, long long rows, long long dim) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long width = dim > 0 ? dim : 1;
  if (t >= rows * width) return;
  const long long row = t / width;
  const double a = HONE_ORACLE_IN(s_a[row]);
  const double b = HONE_ORACLE_IN(s_b[row]);
  const double largest = a > b ? a : b;
  // A part without keys: -inf minus -inf must not be asked for.
  const bool empty = isinf(largest) && largest < 0;
  const double weight_a = empty ? 0.0 : HONE_ORACLE_MID(exp(a - largest));
  const double weight_b = empty ? 0.0 : HONE_ORACLE_MID(exp(b - largest));
  const double sum = HONE_ORACLE_MID(weight_a + weight_b);
  if (t % width == 0) s_out[row] = empty ? largest : largest + log(sum);
  if (dim == 0) return;
  // v of an empty part is not looked at: it may hold anything.
  double value = 0.0;
  if (weight_a > 0.0) value += HONE_ORACLE_MID(weight_a / sum) * HONE_ORACLE_IN(__half2float(v_a[t]));
  if (weight_b > 0.0) value += HONE_ORACLE_MID(weight_b / sum) * HONE_ORACLE_IN(__half2float(v_b[t]));
  v_out[t] = value;
}
