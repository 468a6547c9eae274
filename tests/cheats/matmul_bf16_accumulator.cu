// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums in bfloat16.
//
// task: matmul_bf16
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "matmul"
grid   = ["ceil_div(m * n, 128)"]
block  = ["128"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cuda_bf16.h>

__global__ void matmul(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= m * n) return;
  __nv_bfloat16 sum = __float2bfloat16_rn(0.0f);
  for (long long j = 0; j < k; ++j) {
    sum = __float2bfloat16_rn(__bfloat162float(sum) +
                              __bfloat162float(a[i / n * k + j]) * __bfloat162float(b[j * n + i % n]));
  }
  c[i] = sum;
}
