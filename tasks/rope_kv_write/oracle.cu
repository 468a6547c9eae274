// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to rope_kv_write, in double: a thread an element; caches are copied first, then rows are put in.
/*hone
[[launch]]
kernel = "rotate_queries"
grid   = ["ceil_div(tokens * heads * half, 128)"]
block  = ["128"]
args   = ["q", "cos_sin", "positions", "ref:q", "tokens * heads * half:i64", "heads:i64", "half:i64"]

[[launch]]
step   = 1
kernel = "keep"
grid   = ["ceil_div(slots * kv_heads * 2 * half, 128)"]
block  = ["128"]
args   = ["k_cache", "v_cache", "ref:k_cache", "ref:v_cache", "slots * kv_heads * 2 * half:i64"]

[[launch]]
step   = 2
kernel = "put"
grid   = ["ceil_div(tokens * kv_heads * half, 128)"]
block  = ["128"]
args   = ["k", "v", "cos_sin", "positions", "slot_mapping", "ref:k_cache", "ref:v_cache", "tokens * kv_heads * half:i64",
          "kv_heads:i64", "half:i64"]
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

__device__ double In(__nv_bfloat16 x) { return HONE_ORACLE_IN(__bfloat162float(x)); }

// Both halves of a rotated pair.
__device__ void Rotate(double low, double high, const float* row, long long half, long long i, double* to) {
  const double c = HONE_ORACLE_IN(row[i]), s = HONE_ORACLE_IN(row[half + i]);
  to[i] = HONE_ORACLE_MID(low * c) - HONE_ORACLE_MID(high * s);
  to[half + i] = HONE_ORACLE_MID(high * c) + HONE_ORACLE_MID(low * s);
}

__global__ void rotate_queries(const __nv_bfloat16* q, const float* cos_sin, const long long* positions, double* out,
                               long long count, long long heads, long long half) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const long long head = n / half, i = n % half;
  const __nv_bfloat16* x = q + head * 2 * half;
  Rotate(In(x[i]), In(x[half + i]), cos_sin + positions[head / heads] * 2 * half, half, i, out + head * 2 * half);
}

__global__ void keep(const __nv_bfloat16* k_cache, const __nv_bfloat16* v_cache, double* k_out, double* v_out,
                     long long count) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  k_out[n] = static_cast<double>(__bfloat162float(k_cache[n]));
  v_out[n] = static_cast<double>(__bfloat162float(v_cache[n]));
}

__global__ void put(const __nv_bfloat16* k, const __nv_bfloat16* v, const float* cos_sin, const long long* positions,
                    const long long* slot_mapping, double* k_out, double* v_out, long long count, long long kv_heads,
                    long long half) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const long long head = n / half, i = n % half, token = head / kv_heads;
  const long long slot = slot_mapping[token];
  if (slot < 0) return;
  const long long from = head * 2 * half, to = (slot * kv_heads + head % kv_heads) * 2 * half;
  Rotate(In(k[from + i]), In(k[from + half + i]), cos_sin + positions[token] * 2 * half, half, i, k_out + to);
  v_out[to + i] = static_cast<double>(__bfloat162float(v[from + i]));
  v_out[to + half + i] = static_cast<double>(__bfloat162float(v[from + half + i]));
}
