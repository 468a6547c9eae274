// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maximum and sum in one pass, rescaled as the maximum grows.
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
  float top = -1e38f, sum = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 256) {
    const float v = row[i];
    if (v > top) {
      sum = sum * expf(top - v) + 1.0f;
      top = v;
    } else {
      sum += expf(v - top);
    }
  }
  const float all = BlockReduce(top, true);
  sum = BlockReduce(sum * expf(top - all), false);
  const float scale = 1.0f / sum;
  for (long long i = threadIdx.x; i < d; i += 256) result[i] = expf(row[i] - all) * scale;
}
