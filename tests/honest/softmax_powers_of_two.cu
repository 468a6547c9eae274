// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes powers of two of scaled differences, as the device computes exponentials.
//
// task: softmax
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "honest"
grid   = ["d > 0 ? rows : 0"]
block  = ["256"]
args   = ["x", "out", "d:i64"]
*/
__device__ float BlockReduce(float v, bool maximum) {
  __shared__ float lanes[256];
  lanes[threadIdx.x] = v;
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (threadIdx.x < k) {
      const float other = lanes[threadIdx.x + k];
      lanes[threadIdx.x] = maximum ? fmaxf(lanes[threadIdx.x], other) : lanes[threadIdx.x] + other;
    }
    __syncthreads();
  }
  const float result = lanes[0];
  __syncthreads();
  return result;
}

__global__ void honest(const float* x, float* out, long long d) {
  const float* row = x + blockIdx.x * d;
  float largest = -INFINITY, sum = 0.0f;
  for (long long i = threadIdx.x; i < d; i += blockDim.x) largest = fmaxf(largest, row[i]);
  largest = BlockReduce(largest, true);
  for (long long i = threadIdx.x; i < d; i += blockDim.x) sum += exp2f((row[i] - largest) * 1.4426950408889634f);
  sum = BlockReduce(sum, false);
  const float share = 1.0f / sum;
  for (long long i = threadIdx.x; i < d; i += blockDim.x) {
    out[blockIdx.x * d + i] = exp2f((row[i] - largest) * 1.4426950408889634f) * share;
  }
}
