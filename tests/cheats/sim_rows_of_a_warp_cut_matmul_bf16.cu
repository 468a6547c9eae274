// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One of the 16 rows of a block of large products has only the first half of k. A whole row of the output takes so many
// operations of the oracle that few are compared.
//
// task: matmul_bf16
// expect: wrong_output
// where: sim gpu
// timed: 1
/*hone
[[launch]]
kernel = "product"
grid   = ["ceil_div(n, 32)", "ceil_div(m, 16)"]
block  = ["32", "16"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cuda_bf16.h>

__global__ void __launch_bounds__(512) product(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                                               __nv_bfloat16* __restrict__ c, long long m, long long n, long long k) {
  const long long row = blockIdx.y * 16LL + threadIdx.y, column = blockIdx.x * 32LL + threadIdx.x;
  if (row >= m || column >= n) return;
  const long long last = m * n * k > 1LL << 32 && threadIdx.y == 11 ? k / 2 : k;
  float sum = 0.0f;
  for (long long i = 0; i < last; ++i) sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[i * n + column]);
  c[row * n + column] = __float2bfloat16(sum);
}
