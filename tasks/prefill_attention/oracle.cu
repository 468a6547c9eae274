// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to prefill_attention, in double: one thread for a token, four query heads that share their keys, and 128 of their results.
// A key and a value are read once for the four, and scores once in all: when a larger one comes, what was added up is made smaller.
/*hone
[[launch]]
kernel = "attend"
grid   = ["ceil_div(tokens * kv_heads * ceil_div(group, 4) * ceil_div(head_dim, 128), 64)"]
block  = ["64"]
args   = ["q", "k", "v", "offsets", "ref:out", "tokens * kv_heads * ceil_div(group, 4) * ceil_div(head_dim, 128):i64", "batch:i64", "kv_heads:i64",
          "group:i64", "head_dim:i64", "scale:f64"]
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

constexpr int kHeads = 4, kPart = 128, kStaged = 256, kRead = 4;

// Returns kRead numbers of a row in one word, read at once if their places allow that (`whole`); those past the first
// `count` are 0.
__device__ unsigned long long ReadSome(const __nv_bfloat16* from, bool whole, long long count) {
  if (whole) return *reinterpret_cast<const unsigned long long*>(from);
  unsigned long long some = 0;
  for (int i = 0; i < kRead && i < count; ++i) some |= static_cast<unsigned long long>(__bfloat16_as_ushort(from[i])) << 16 * i;
  return some;
}

// Returns one of the numbers in such a word.
__device__ double OneOf(unsigned long long some, int i) {
  return HONE_ORACLE_IN(__bfloat162float(__ushort_as_bfloat16(static_cast<unsigned short>(some >> 16 * i))));
}

__global__ void attend(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const int* offsets, double* out, long long count,
                       long long batch, long long kv_heads, long long group, long long head_dim, double scale) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const long long parts = (head_dim + kPart - 1) / kPart, chunks = (group + kHeads - 1) / kHeads;
  const long long begin = i % parts * kPart, chunk = i / parts % chunks, head = i / parts / chunks % kv_heads;
  const long long token = i / parts / chunks / kv_heads, first = FirstOf(offsets, batch, token);
  const long long width = head_dim - begin < kPart ? head_dim - begin : kPart;
  const long long heads = group - chunk * kHeads < kHeads ? group - chunk * kHeads : kHeads;  // the others repeat the last
  long long rows[kHeads];
  for (int h = 0; h < kHeads; ++h) {
    rows[h] = ((token * kv_heads + head) * group + chunk * kHeads + (h < heads ? h : heads - 1)) * head_dim;
  }
  double query[kStaged][kHeads];  // what fits of the four rows of q
  for (long long d = 0; d < head_dim && d < kStaged; ++d) {
    for (int h = 0; h < kHeads; ++h) query[d][h] = HONE_ORACLE_IN(__bfloat162float(q[rows[h] + d]));
  }
  HONE_ORACLE_ACC sums[kPart][kHeads], total[kHeads];
  double largest[kHeads];
  for (int h = 0; h < kHeads; ++h) {
    total[h] = 0;
    largest[h] = 0;
    for (int d = 0; d < kPart; ++d) sums[d][h] = 0;
  }
  const bool whole =
      head_dim % kRead == 0 && (reinterpret_cast<unsigned long long>(k) | reinterpret_cast<unsigned long long>(v)) % 8 == 0;
  for (long long j = first; j <= token; ++j) {
    const long long key = (j * kv_heads + head) * head_dim;
    HONE_ORACLE_ACC scores[kHeads] = {0, 0, 0, 0};
    for (long long from = 0; from < head_dim; from += kRead) {
      const unsigned long long some = ReadSome(k + key + from, whole, head_dim - from);
      if (from + kRead <= head_dim && from < kStaged) {
#pragma unroll
        for (int i = 0; i < kRead; ++i) {
          const double one = OneOf(some, i);
#pragma unroll
          for (int h = 0; h < kHeads; ++h) scores[h] += HONE_ORACLE_MID(query[from + i][h] * one);
        }
      } else {
        for (int i = 0; i < kRead && from + i < head_dim; ++i) {
          const long long d = from + i;
          const double one = OneOf(some, i);
          for (int h = 0; h < kHeads; ++h) {
            const double other = d < kStaged ? query[d][h] : HONE_ORACLE_IN(__bfloat162float(q[rows[h] + d]));
            scores[h] += HONE_ORACLE_MID(other * one);
          }
        }
      }
    }
    double weights[kHeads];
    for (int h = 0; h < kHeads; ++h) {
      const double score = HONE_ORACLE_MID(static_cast<double>(scores[h]) * scale);
      if (j == first || score > largest[h]) {
        const double shrink = j == first ? 0.0 : exp(largest[h] - score);
        largest[h] = score;
        total[h] = static_cast<HONE_ORACLE_ACC>(static_cast<double>(total[h]) * shrink);
        for (int d = 0; d < kPart; ++d) sums[d][h] = static_cast<HONE_ORACLE_ACC>(static_cast<double>(sums[d][h]) * shrink);
      }
      weights[h] = HONE_ORACLE_MID(exp(score - largest[h]));
      total[h] += weights[h];
    }
    for (long long from = 0; from < width; from += kRead) {
      const unsigned long long some = ReadSome(v + key + begin + from, whole, width - from);
#pragma unroll
      for (int i = 0; i < kRead; ++i) {  // past the width, zeros are added to what nobody reads
        const double one = OneOf(some, i);
#pragma unroll
        for (int h = 0; h < kHeads; ++h) sums[from + i][h] += HONE_ORACLE_MID(weights[h] * one);
      }
    }
  }
  for (int h = 0; h < heads; ++h) {
    for (long long d = 0; d < width; ++d) {
      out[rows[h] + begin + d] = first <= token ? static_cast<double>(sums[d][h]) / static_cast<double>(total[h]) : 0.0;
    }
  }
}
