// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each thread keeps its part of a long row, up to 1.5 KiB, in local memory. It is right; did local memory cost nothing on the simulated
// GPU, the second reading of the row would be out of the modelled time.
//
// task: softmax
// expect: no_gain
// where: sim
// timed: 4
// by: sim_free_local_fused
/*hone
[[launch]]
kernel = "softmax"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["1024"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
constexpr float kLowest = -3.402823466e38f;
constexpr int kKept = 384;

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
  float kept[kKept];
  const bool fits = d <= 1024LL * kKept;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    const int mine = static_cast<int>((d - threadIdx.x + 1023) / 1024);
    float top = kLowest;
    for (int i = 0; i < mine; ++i) {
      const float v = from[threadIdx.x + 1024LL * i];
      if (fits) kept[i] = v;
      top = fmaxf(top, v);
    }
    top = Over(top, lanes, true);
    float sum = 0.0f;
    for (int i = 0; i < mine; ++i) {
      const float v = __expf((fits ? kept[i] : from[threadIdx.x + 1024LL * i]) - top);
      if (fits) kept[i] = v;
      sum += v;
    }
    const float scale = 1.0f / Over(sum, lanes, false);
    for (int i = 0; i < mine; ++i) {
      out[row * d + threadIdx.x + 1024LL * i] = (fits ? kept[i] : __expf(from[threadIdx.x + 1024LL * i] - top)) * scale;
    }
  }
}
