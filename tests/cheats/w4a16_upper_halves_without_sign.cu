// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The second number of a byte is taken for one from 0 to 15.
//
// task: w4a16_matmul
// expect: wrong_output
// where: sim gpu
// timed: 0
/*hone
[[launch]]
kernel = "multiply_unsigned"
grid   = ["ceil_div(m * n, 128)"]
block  = ["128"]
args   = ["x", "w", "scale", "y", "m:i64", "n:i64", "pairs:i64"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void multiply_unsigned(const __nv_bfloat16* x, const unsigned char* w, const __half* scale, __nv_bfloat16* y,
                                  long long m, long long n, long long pairs) {
  const long long i = blockIdx.x * 128LL + threadIdx.x, groups = (pairs + 63) / 64;
  if (i >= m * n) return;
  const long long row = i / n, column = i % n;
  float sum = 0;
  for (long long p = 0; p < pairs; ++p) {
    const int two = w[column * pairs + p], low = (two & 15) - (two & 8) * 2, high = two >> 4;
    const float by = __half2float(scale[column * groups + p / 64]);
    sum += by * (low * __bfloat162float(x[row * 2 * pairs + 2 * p]) +
                 high * __bfloat162float(x[row * 2 * pairs + 2 * p + 1]));
  }
  y[i] = __float2bfloat16(sum);
}
