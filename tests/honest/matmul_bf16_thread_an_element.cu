// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread per result, summed in float.
//
// task: matmul_bf16
// expect: ok
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
  float sum = 0.0f;
  for (long long j = 0; j < k; ++j) sum += __bfloat162float(a[i / n * k + j]) * __bfloat162float(b[j * n + i % n]);
  c[i] = __float2bfloat16_rn(sum);
}
