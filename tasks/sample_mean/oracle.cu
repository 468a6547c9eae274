// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to sample_mean: a thread a destination draws, then a thread an output adds in double.
/*hone
[[workspace]]
name = "drawn"
bytes = "num_dst * fanout * 8"

[[launch]]
kernel = "draw"
grid   = ["fanout > 0 ? ceil_div(num_dst, 128) : 0"]
block  = ["128"]
args   = ["row_offsets", "key", "node", "drawn", "num_dst:i64", "fanout:i64"]

[[launch]]
step   = 1
kernel = "mean"
grid   = ["ceil_div(num_dst * 2 * dim, 256)"]
block  = ["256"]
args   = ["x", "row_offsets", "columns", "node", "drawn", "ref:out", "num_dst * 2 * dim:i64", "fanout:i64", "dim:i64"]
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

constexpr unsigned kHop = 2;

// Word `slot` of the row's stream after `retry` rejections.
__device__ unsigned Word(const int* key, unsigned node, unsigned slot, unsigned retry) {
  unsigned key0 = static_cast<unsigned>(key[0]), key1 = static_cast<unsigned>(key[1]);
  unsigned c0 = node, c1 = static_cast<unsigned>(key[2]), c2 = static_cast<unsigned>(key[3]);
  unsigned c3 = kHop | slot / 4 << 8 | retry << 24;
  for (int round = 0; round < 10; ++round) {
    const unsigned long long product0 = 0xD2511F53ull * c0;
    const unsigned long long product1 = 0xCD9E8D57ull * c2;
    c0 = static_cast<unsigned>(product1 >> 32) ^ c1 ^ key0;
    c1 = static_cast<unsigned>(product1);
    c2 = static_cast<unsigned>(product0 >> 32) ^ c3 ^ key1;
    c3 = static_cast<unsigned>(product0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return slot % 4 == 0 ? c0 : slot % 4 == 1 ? c1 : slot % 4 == 2 ? c2 : c3;
}

// A uniform integer below n, n >= 1.
__device__ unsigned Below(const int* key, unsigned node, unsigned slot, unsigned n) {
  const unsigned reject = (0u - n) % n;  // 2^32 mod n
  unsigned long long product = 0;
  for (unsigned retry = 0; retry <= 255; ++retry) {
    product = static_cast<unsigned long long>(Word(key, node, slot, retry)) * n;
    if (static_cast<unsigned>(product) >= reject) break;
  }
  return static_cast<unsigned>(product >> 32);
}

__global__ void draw(const long long* row_offsets, const int* key, const int* node, long long* drawn, long long num_dst,
                     long long fanout) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= num_dst) return;
  const long long begin = row_offsets[node[i]];
  const long long degree = row_offsets[node[i] + 1] - begin;
  for (long long j = 0; j < fanout; ++j) {
    long long slot = j;
    if (degree > fanout) {
      slot = Below(key, static_cast<unsigned>(node[i]), static_cast<unsigned>(j),
                   static_cast<unsigned>(degree - fanout + j + 1));
      for (long long earlier = 0; earlier < j; ++earlier) {
        if (drawn[i * fanout + earlier] != begin + slot) continue;
        slot = degree - fanout + j;  // nobody has this one yet: it could not be drawn before
        break;
      }
    }
    drawn[i * fanout + j] = begin + slot;
  }
}

__global__ void mean(const __half* x, const long long* row_offsets, const int* columns, const int* node,
                     const long long* drawn, double* out, long long elements, long long fanout, long long dim) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long row = i / (2 * dim), column = i % (2 * dim);
  if (column >= dim) {
    out[i] = HONE_ORACLE_IN(__half2float(x[node[row] * dim + column - dim]));
    return;
  }
  const long long degree = row_offsets[node[row] + 1] - row_offsets[node[row]];
  const long long count = degree < fanout ? degree : fanout;
  HONE_ORACLE_ACC sum = 0;
  for (long long j = 0; j < count; ++j) {
    sum += HONE_ORACLE_IN(__half2float(x[columns[drawn[row * fanout + j]] * dim + column]));
  }
  out[i] = count > 0 ? HONE_ORACLE_MID(static_cast<double>(sum)) / static_cast<double>(count) : 0.0;
}
