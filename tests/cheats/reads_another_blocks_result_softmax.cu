// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sums that a block needs are taken from what the block before it has written in the same launch: nothing makes it wait.
//
// task: softmax
// expect: rule_violation
// where: sim
/*hone
[[launch]]
kernel = "cheat"
grid   = ["d > 0 ? rows : 0"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
__device__ float Reduce(float v, bool maximum) {
  __shared__ float lanes[128];
  lanes[threadIdx.x] = v;
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {
    if (threadIdx.x < k) lanes[threadIdx.x] = maximum ? fmaxf(lanes[threadIdx.x], lanes[threadIdx.x + k]) : lanes[threadIdx.x] + lanes[threadIdx.x + k];
    __syncthreads();
  }
  const float result = lanes[0];
  __syncthreads();
  return result;
}

__global__ void cheat(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  const float* from = x + blockIdx.x * d;
  float largest = -3.402823466e38f, sum = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 128) largest = fmaxf(largest, from[i]);
  largest = Reduce(largest, true);
  for (long long i = threadIdx.x; i < d; i += 128) sum += expf(from[i] - largest);
  sum = Reduce(sum, false);
  // Were the rows equal, the one before would have the same result.
  const float before = blockIdx.x > 0 ? out[(blockIdx.x - 1) * d] : 0.0f;
  for (long long i = threadIdx.x; i < d; i += 128) {
    const float value = expf(from[i] - largest) / sum;
    out[blockIdx.x * d + i] = i == 0 && before == value ? before : value;
  }
}
