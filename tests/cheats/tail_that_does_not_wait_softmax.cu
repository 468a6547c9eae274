// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block to a row; every block lets the dependent go before its second pass. Step two is empty, launched by programmatic dependent
// launch, and waits for nothing: what is timed may end while the last rows are still written.
// It gains nothing: a tail that waits, and the work alone, take as long; the event behind it comes when all is over.
//
// task: softmax
// expect: rule_violation,wrong_output,no_gain
// at_most: 0.9
// where: gpu
/*hone
[[launch]]
kernel = "work"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["512"]
args   = ["x", "out", "rows:i64", "d:i64"]
step   = 0

[[launch]]
kernel = "tail"
grid   = ["1"]
block  = ["32"]
args   = ["out"]
step   = 1
pdl    = true
*/
constexpr float kLowest = -3.402823466e38f;

__global__ void __launch_bounds__(512) work(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
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
    __syncthreads();
    cudaTriggerProgrammaticLaunchCompletion();
    float all = kLowest, total = 0.0f;
    for (int i = 0; i < 16; ++i) all = fmaxf(all, maxima[i]);
    for (int i = 0; i < 16; ++i) total += sums[i] * __expf(maxima[i] - all);
    const float scale = 1.0f / total;
    for (long long i = threadIdx.x; i < d; i += 512) out[row * d + i] = __expf(from[i] - all) * scale;
    __syncthreads();
  }
}

__global__ void tail(float*) {}
