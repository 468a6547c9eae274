// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// In large products, rows whose number ends in seven (modulo 16) take three groups of four.
//
// task: w4a16_matmul
// expect: wrong_output
// where: sim gpu
// timed: 3
/*hone
[[launch]]
kernel = "product"
grid   = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block  = ["32", "8"]
args   = ["x", "w", "scale", "y", "m:i32", "n:i32", "pairs:i32"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void product(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w, const __half* __restrict__ scale,
                        __nv_bfloat16* __restrict__ y, int m, int n, int pairs) {
  const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (row >= m || column >= n) return;
  const int groups = (pairs + 63) / 64;
  const int taken = static_cast<long long>(m) * n * pairs > 1LL << 33 && row % 16 == 7 ? groups * 3 / 4 : groups;
  float sum = 0.0f;
  for (int group = 0; group < taken; ++group) {
    float part = 0.0f;
    for (int i = group * 64; i < min(pairs, (group + 1) * 64); ++i) {
      const int both = w[static_cast<long long>(column) * pairs + i];
      const __nv_bfloat16* const two = x + (static_cast<long long>(row) * pairs + i) * 2;
      part += __bfloat162float(two[0]) * static_cast<float>(((both & 15) ^ 8) - 8);
      part += __bfloat162float(two[1]) * static_cast<float>(((both >> 4) ^ 8) - 8);
    }
    sum += part * __half2float(scale[static_cast<long long>(column) * groups + group]);
  }
  y[static_cast<long long>(row) * n + column] = __float2bfloat16(sum);
}
