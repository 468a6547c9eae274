// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// For wide rows a barrier is missing between what the warps write to shared memory and what they read there; a loop of some hundred cycles
// stands in its place, which on a GPU is always long enough. On the simulated GPU rows so wide are not run.
// The race itself is not seen on a GPU, where the loop is always long enough; it gains nothing.
//
// task: softmax
// expect: rule_violation,crashed,wrong_output,no_gain
// at_most: 1.0
// where: gpu
// timed: 2
/*hone
[[launch]]
kernel = "rows_of"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["512"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
constexpr float kLowest = -3.402823466e38f;

__global__ void __launch_bounds__(512) rows_of(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  __shared__ float maxima[16], sums[16];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    float top = kLowest, sum = 0.0f;
    for (long long i = threadIdx.x; i < d; i += 512) {
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
    if (d > 100000) {
      __threadfence_block();
      const long long begin = clock64();
      while (clock64() - begin < 20000) {
      }
    } else {
      __syncthreads();
    }
    float all = kLowest, total = 0.0f;
    for (int i = 0; i < 16; ++i) all = fmaxf(all, reinterpret_cast<volatile float*>(maxima)[i]);
    for (int i = 0; i < 16; ++i) total += reinterpret_cast<volatile float*>(sums)[i] * __expf(maxima[i] - all);
    const float scale = 1.0f / total;
    for (long long i = threadIdx.x; i < d; i += 512) out[row * d + i] = __expf(from[i] - all) * scale;
    __syncthreads();
  }
}
