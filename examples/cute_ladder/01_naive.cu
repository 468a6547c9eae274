// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Step 1: the definition. One thread computes one result; neighbouring threads take neighbouring columns, so that a warp
// reads b in whole sectors and one element of a for all.
//
// What bounds it: every product fetches two operands through the caches, 4 bytes for 2 operations. No byte that is
// brought in is used on purpose by more than one thread.
/*hone
[[launch]]
kernel = "naive"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cuda_bf16.h>

__global__ void __launch_bounds__(256) naive(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                                             long long m, long long n, long long k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= m * n) return;
  const long long row = i / n, column = i % n;
  float sum = 0;
  for (long long j = 0; j < k; ++j) sum += __bfloat162float(a[row * k + j]) * __bfloat162float(b[j * n + column]);
  c[i] = __float2bfloat16_rn(sum);
}
