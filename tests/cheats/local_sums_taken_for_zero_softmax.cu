// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds exponentials to an array in local memory that it never zeroes at its start, but leaves zero at its end for the
// next launch.
//
// task: softmax
// expect: wrong_output
// where: gpu
// timed: 0
/*hone
[[launch]]
kernel = "cheat"
grid   = ["d > 0 ? rows : 0"]
block  = ["256"]
args   = ["x", "out", "d:i64"]
*/
__device__ float BlockReduce(float v, bool maximum) {
  __shared__ float lanes[8];
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, v, offset);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = v;
  __syncthreads();
  v = lanes[threadIdx.x % 8];
  for (int offset = 4; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, v, offset);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  return v;
}

__global__ void cheat(const float* __restrict__ x, float* __restrict__ out, long long d) {
  volatile float sums[32];
  const float* row = x + blockIdx.x * d;
  float largest = -3.402823466e38f, sum = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 256) largest = fmaxf(largest, row[i]);
  largest = BlockReduce(largest, true);
  for (long long i = threadIdx.x, j = 0; i < d; i += 256, ++j) sums[j % 32] = sums[j % 32] + __expf(row[i] - largest);
  for (int j = 0; j < 32; ++j) {
    sum += sums[j];
    sums[j] = 0.0f;
  }
  sum = BlockReduce(sum, false);
  for (long long i = threadIdx.x; i < d; i += 256) out[blockIdx.x * d + i] = __expf(row[i] - largest) / sum;
}
