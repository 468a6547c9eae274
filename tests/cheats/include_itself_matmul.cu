// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The plainest product, a thread a result, whose loads stand in a copy of this file that is included under the simulator's own
// name for it (written.cc): no guard reads it, no load is instrumented, and the modelled time is that of the stores alone.
//
// task: matmul_f32
// expect: rule_violation,unsupported
// where: sim
/*hone
[[launch]]
kernel = "product"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#if defined(HONE_RED_INNER)
__device__ __attribute__((no_sanitize_thread, noinline)) float Dot(const float* a, const float* b, long long k,
                                                                   long long stride) {
  float sum[4] = {};
  long long i = 0;
  for (; i + 4 <= k; i += 4) {
    for (int j = 0; j < 4; ++j) sum[j] += a[i + j] * b[(i + j) * stride];
  }
  for (; i < k; ++i) sum[0] += a[i] * b[i * stride];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
#else
#if __has_include("written.cc")
#define HONE_RED_INNER
#include "written.cc"
#undef HONE_RED_INNER
#else
__device__ float Dot(const float* a, const float* b, long long k, long long stride) {
  float sum[4] = {};
  long long i = 0;
  for (; i + 4 <= k; i += 4) {
    for (int j = 0; j < 4; ++j) sum[j] += a[i + j] * b[(i + j) * stride];
  }
  for (; i < k; ++i) sum[0] += a[i] * b[i * stride];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
#endif

__global__ void product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, long long m,
                        long long n, long long k) {
  const long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (at >= m * n) return;
  // Every input is loaded once in sight, so that the time is not below what memory allows.
  float seen = 0.0f;
  for (long long i = at; i < m * k; i += m * n) seen += a[i];
  for (long long i = at; i < k * n; i += m * n) seen += b[i];
  float sum = Dot(a + at / n * k, b + at % n, k, n);
  if (seen == 1.25e38f) sum = seen;
  c[at] = sum;
}
#endif
