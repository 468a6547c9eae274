// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to prefill_attention, in double: one thread for the largest score of a row, then one for 128 of its results. Scores are
// computed twice, because those of a long prompt would fill a GPU's memory.
/*hone
[[workspace]]
name = "largest"
bytes = "tokens * kv_heads * group * 8"

[[launch]]
kernel = "largest_score"
grid   = ["ceil_div(tokens * kv_heads * group, 64)"]
block  = ["64"]
args   = ["q", "k", "offsets", "largest", "tokens * kv_heads * group:i64", "batch:i64", "kv_heads:i64", "group:i64", "head_dim:i64", "scale:f64"]

[[launch]]
step   = 1
kernel = "weighted_sum"
grid   = ["ceil_div(tokens * kv_heads * group * ceil_div(head_dim, 128), 64)"]
block  = ["64"]
args   = ["q", "k", "v", "offsets", "largest", "ref:out", "tokens * kv_heads * group * ceil_div(head_dim, 128):i64", "batch:i64",
          "kv_heads:i64", "group:i64", "head_dim:i64", "scale:f64"]
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

// The first token of the sequence of `token`; token + 1 if there is none.
__device__ long long FirstOf(const int* offsets, long long batch, long long token) {
  long long first = token + 1;
  for (long long s = 0; s < batch; ++s) {
    if (offsets[s] <= token && token < offsets[s + 1]) first = offsets[s];
  }
  return first;
}

__device__ double Score(const __nv_bfloat16* q, const __nv_bfloat16* k, long long row, long long key, long long head_dim, double scale) {
  HONE_ORACLE_ACC sum = 0;
  for (long long d = 0; d < head_dim; ++d) {
    sum += HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(q[row * head_dim + d])) *
                           HONE_ORACLE_IN(__bfloat162float(k[key * head_dim + d])));
  }
  return HONE_ORACLE_MID(static_cast<double>(sum) * scale);
}

__global__ void largest_score(const __nv_bfloat16* q, const __nv_bfloat16* k, const int* offsets, double* largest, long long count,
                              long long batch, long long kv_heads, long long group, long long head_dim, double scale) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= count) return;
  const long long token = row / (kv_heads * group), head = row / group % kv_heads, first = FirstOf(offsets, batch, token);
  double most = 0;
  for (long long j = first; j <= token; ++j) {
    const double score = Score(q, k, row, j * kv_heads + head, head_dim, scale);
    if (j == first || score > most) most = score;
  }
  largest[row] = most;
}

__global__ void weighted_sum(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const int* offsets,
                             const double* largest, double* out, long long count, long long batch, long long kv_heads, long long group,
                             long long head_dim, double scale) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const long long parts = (head_dim + 127) / 128, row = i / parts, begin = i % parts * 128;
  const long long width = head_dim - begin < 128 ? head_dim - begin : 128;
  const long long token = row / (kv_heads * group), head = row / group % kv_heads, first = FirstOf(offsets, batch, token);
  HONE_ORACLE_ACC total = 0;
  HONE_ORACLE_ACC sums[128];
  for (long long d = 0; d < 128; ++d) sums[d] = 0;
  for (long long j = first; j <= token; ++j) {
    const long long key = j * kv_heads + head;
    const double weight = HONE_ORACLE_MID(exp(Score(q, k, row, key, head_dim, scale) - largest[row]));
    total += weight;
    for (long long d = 0; d < width; ++d) {
      sums[d] += HONE_ORACLE_MID(weight * HONE_ORACLE_IN(__bfloat162float(v[key * head_dim + begin + d])));
    }
  }
  for (long long d = 0; d < width; ++d) {
    out[row * head_dim + begin + d] = first <= token ? static_cast<double>(sums[d]) / static_cast<double>(total) : 0.0;
  }
}
