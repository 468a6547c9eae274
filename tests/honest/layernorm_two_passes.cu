// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mean, then squares about the mean.
//
// task: layernorm
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "layernorm"
grid   = ["d > 0 ? rows : 0"]
block  = ["256"]
args   = ["x", "weight", "bias", "out", "d:i64", "eps:f32"]
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

__global__ void layernorm(const float* x, const float* weight, const float* bias, float* out, long long d, float eps) {
  const float* row = x + blockIdx.x * d;
  float* result = out + blockIdx.x * d;
  float sum = 0.0f, squares = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 256) sum += row[i];
  const float mean = BlockReduce(sum, false) / static_cast<float>(d);
  for (long long i = threadIdx.x; i < d; i += 256) squares += (row[i] - mean) * (row[i] - mean);
  const float scale = rsqrtf(BlockReduce(squares, false) / static_cast<float>(d) + eps);
  for (long long i = threadIdx.x; i < d; i += 256) result[i] = (row[i] - mean) * scale * weight[i] + bias[i];
}
