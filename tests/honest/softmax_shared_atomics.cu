// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums by atomics in shared memory, in another order every time.
//
// task: softmax
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "softmax"
grid   = ["rows"]
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

__global__ void softmax(const float* x, float* out, long long d) {
  const float* row = x + blockIdx.x * d;
  float* result = out + blockIdx.x * d;
  __shared__ float total;
  float top = -1e38f, sum = 0.0f;
  if (threadIdx.x == 0) total = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 256) top = fmaxf(top, row[i]);
  top = BlockReduce(top, true);
  for (long long i = threadIdx.x; i < d; i += 256) sum += expf(row[i] - top);
  atomicAdd(&total, sum);
  __syncthreads();
  for (long long i = threadIdx.x; i < d; i += 256) result[i] = expf(row[i] - top) / total;
}
