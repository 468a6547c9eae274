// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp a row, two passes: the mean, then the spread about it.
/*hone
[[launch]]
kernel = "mean_and_spread"
grid   = ["ceil_div(rows, 4)"]
block  = ["128"]
args   = ["x", "out0", "out1", "rows:i64", "width:i64"]
*/
__device__ float WarpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}
__global__ void mean_and_spread(const float* __restrict__ x, float* __restrict__ mean, float* __restrict__ spread, long long rows,
                                long long width) {
  const long long row = static_cast<long long>(blockIdx.x) * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f, squares = 0.0f;
  for (long long i = lane; i < width; i += 32) sum += x[row * width + i];
  const float middle = WarpSum(sum) / static_cast<float>(width);
  for (long long i = lane; i < width; i += 32) squares += (x[row * width + i] - middle) * (x[row * width + i] - middle);
  squares = WarpSum(squares) / static_cast<float>(width);
  if (lane == 0) {
    mean[row] = middle;
    spread[row] = sqrtf(squares);
  }
}
