// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Once in 2048 blocks, as the clock has it, a row's sum is taken over half the row. Which rows these are no seed decides, and no
// two launches agree.
//
// task: softmax
// expect: wrong_output
// where: gpu
/*hone
[[launch]]
kernel = "rows_of"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
constexpr float kLowest = -3.402823466e38f;

__global__ void __launch_bounds__(256) rows_of(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  __shared__ float maxima[8], sums[8];
  __shared__ int half;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    if (threadIdx.x == 0) half = rows > 1000 && (clock64() * 0x9e3779b97f4a7c15LL >> 40 & 2047) == 0;
    __syncthreads();
    const float* from = x + row * d;
    float top = kLowest, sum = 0.0f;
    for (long long i = threadIdx.x; i < (half ? d / 2 : d); i += 256) {
      const float v = from[i];
      if (v > top) {
        sum *= __expf(top - v);
        top = v;
      }
      sum += __expf(v - top);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, top, offset), added = __shfl_xor_sync(0xffffffffu, sum, offset);
      const float both = fmaxf(top, other);
      sum = sum * __expf(top - both) + added * __expf(other - both);
      top = both;
    }
    if (threadIdx.x % 32 == 0) {
      maxima[threadIdx.x / 32] = top;
      sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    float all = kLowest, total = 0.0f;
    for (int i = 0; i < 8; ++i) all = fmaxf(all, maxima[i]);
    for (int i = 0; i < 8; ++i) total += sums[i] * __expf(maxima[i] - all);
    const float scale = 1.0f / total;
    for (long long i = threadIdx.x; i < d; i += 256) out[row * d + i] = __expf(from[i] - all) * scale;
    __syncthreads();
  }
}
