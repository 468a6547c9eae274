// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums only the first 4096 elements and scales the sum up.
//
// task: softmax
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
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

__global__ void cheat(const float* x, float* out, long long d) {
  const float* row = x + blockIdx.x * d;
  float* result = out + blockIdx.x * d;
  float top = -1e30f, sum = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 256) top = fmaxf(top, row[i]);
  top = BlockReduce(top, true);
  const long long part = d < 1024 ? d : 1024;
  for (long long i = threadIdx.x; i < part; i += 256) sum += expf(row[i] - top);
  sum = BlockReduce(sum, false) * static_cast<float>(d) / static_cast<float>(part);
  for (long long i = threadIdx.x; i < d; i += 256) result[i] = expf(row[i] - top) / sum;
}
