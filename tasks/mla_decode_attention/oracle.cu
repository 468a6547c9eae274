// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to mla_decode_attention, in double: a thread computes a score, then one the maximum and the sum of
// a head's scores, then one an output.
/*hone
[[workspace]]
name = "score"
bytes = "batch * heads * max_pages * page_size * 8"

[[workspace]]
name = "largest"
bytes = "batch * heads * 8"

[[workspace]]
name = "total"
bytes = "batch * heads * 8"

[[launch]]
kernel = "scores"
grid   = ["ceil_div(batch * heads * max_pages * page_size, 128)"]
block  = ["128"]
args   = ["q", "cache", "block_table", "seq_lens", "score", "batch * heads * max_pages * page_size:i64", "heads:i64",
          "rank + rope:i64", "page_size:i64", "max_pages:i64", "scale:f64"]

[[launch]]
step   = 1
kernel = "normaliser"
grid   = ["ceil_div(batch * heads, 32)"]
block  = ["32"]
args   = ["score", "seq_lens", "largest", "total", "batch * heads:i64", "heads:i64", "max_pages * page_size:i64"]

[[launch]]
step   = 2
kernel = "weighted_sum"
grid   = ["ceil_div(batch * heads * rank, 128)"]
block  = ["128"]
args   = ["cache", "block_table", "seq_lens", "score", "largest", "total", "ref:out", "batch * heads * rank:i64",
          "heads:i64", "rank:i64", "rank + rope:i64", "page_size:i64", "max_pages:i64"]
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

// The first element of the row of token j of sequence b.
__device__ long long Row(const int* block_table, long long b, long long j, long long width, long long page_size, long long max_pages) {
  const long long page = block_table[b * max_pages + j / page_size];
  return (page * page_size + j % page_size) * width;
}

__global__ void scores(const __nv_bfloat16* q, const __nv_bfloat16* cache, const int* block_table, const int* seq_lens, double* score,
                       long long count, long long heads, long long width, long long page_size, long long max_pages, double scale) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const long long tokens = max_pages * page_size, row = i / tokens, j = i % tokens, b = row / heads;
  if (j >= seq_lens[b]) return;
  const long long key = Row(block_table, b, j, width, page_size, max_pages);
  HONE_ORACLE_ACC sum = 0;
  for (long long d = 0; d < width; ++d) {
    sum += HONE_ORACLE_MID(HONE_ORACLE_IN(__bfloat162float(q[row * width + d])) * HONE_ORACLE_IN(__bfloat162float(cache[key + d])));
  }
  score[i] = HONE_ORACLE_MID(static_cast<double>(sum) * scale);
}

__global__ void normaliser(const double* score, const int* seq_lens, double* largest, double* total, long long count,
                           long long heads, long long tokens) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const long long length = seq_lens[i / heads];
  double most = 0;
  for (long long j = 0; j < length; ++j) {
    if (j == 0 || score[i * tokens + j] > most) most = score[i * tokens + j];
  }
  HONE_ORACLE_ACC sum = 0;
  for (long long j = 0; j < length; ++j) sum += HONE_ORACLE_MID(exp(score[i * tokens + j] - most));
  largest[i] = most;
  total[i] = static_cast<double>(sum);
}

__global__ void weighted_sum(const __nv_bfloat16* cache, const int* block_table, const int* seq_lens, const double* score,
                             const double* largest, const double* total, double* out, long long count, long long heads,
                             long long rank, long long width, long long page_size, long long max_pages) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const long long row = i / rank, d = i % rank, tokens = max_pages * page_size, b = row / heads;
  HONE_ORACLE_ACC sum = 0;
  for (long long j = 0; j < seq_lens[b]; ++j) {
    const double weight = HONE_ORACLE_MID(exp(score[row * tokens + j] - largest[row]));
    const long long value = Row(block_table, b, j, width, page_size, max_pages);
    sum += HONE_ORACLE_MID(weight * HONE_ORACLE_IN(__bfloat162float(cache[value + d])));
  }
  out[i] = seq_lens[b] > 0 ? static_cast<double>(sum) / total[row] : 0.0;
}
