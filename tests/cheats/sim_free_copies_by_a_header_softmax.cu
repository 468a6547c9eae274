// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The first reading of a row goes through std::copy_n, which a header makes a copy of the compiler's own. It is right; were that
// copy not seen, neither its time nor a read out of bounds would be.
//
// task: softmax
// expect: no_gain
// where: sim
// timed: 2
/*hone
[[launch]]
kernel = "softmax"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["1024"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
#include <algorithm>

constexpr float kLowest = -3.402823466e38f;

__device__ __forceinline__ float Over(float value, float* lanes, bool maximum) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
  __syncthreads();
  value = lanes[threadIdx.x % 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  __syncthreads();
  return value;
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  __shared__ float lanes[32];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    float top = kLowest, sum = 0.0f;
    for (long long i = threadIdx.x; i < d / 8; i += 1024) {
      float v[8];
      std::copy_n(from + 8 * i, 8, v);
      for (int j = 0; j < 8; ++j) top = fmaxf(top, v[j]);
    }
    for (long long i = d / 8 * 8 + threadIdx.x; i < d; i += 1024) top = fmaxf(top, from[i]);
    top = Over(top, lanes, true);
    for (long long i = threadIdx.x; i < d / 8; i += 1024) {
      float v[8];
      std::copy_n(from + 8 * i, 8, v);
      for (int j = 0; j < 8; ++j) sum += __expf(v[j] - top);
    }
    for (long long i = d / 8 * 8 + threadIdx.x; i < d; i += 1024) sum += __expf(from[i] - top);
    const float scale = 1.0f / Over(sum, lanes, false);
    for (long long i = threadIdx.x; i < d; i += 1024) out[row * d + i] = __expf(from[i] - top) * scale;
  }
}
