// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where x starts on a 32-byte boundary, a block takes two rows, and the last of an odd number of rows is nobody's. The
// timed shapes have even numbers of rows.
//
// task: layernorm
// expect: wrong_output
// by: tail_left_when_aligned_relu
// where: sim gpu
// timed: 1
/*hone
[[launch]]
kernel = "cheat"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["256"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
*/
__device__ float BlockSum(float v) {
  __shared__ float lanes[256];
  lanes[threadIdx.x] = v;
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (threadIdx.x < k) lanes[threadIdx.x] += lanes[threadIdx.x + k];
    __syncthreads();
  }
  const float result = lanes[0];
  __syncthreads();
  return result;
}

__device__ void Row(const float* x, const float* weight, const float* bias, float* out, long long d, float eps) {
  float sum = 0.0f, squares = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 256) sum += x[i];
  const float mean = BlockSum(sum) / static_cast<float>(d);
  for (long long i = threadIdx.x; i < d; i += 256) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(BlockSum(squares) / static_cast<float>(d) + eps);
  for (long long i = threadIdx.x; i < d; i += 256) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

__global__ void cheat(const float* x, const float* weight, const float* bias, float* out, long long rows, long long d, float eps) {
  const bool pairs = reinterpret_cast<unsigned long long>(x) % 32 == 0 && rows > 2;
  for (long long at = blockIdx.x; at < rows; at += gridDim.x) {
    if (!pairs) {
      Row(x + at * d, weight, bias, out + at * d, d, eps);
    } else if (at % 2 == 0 && at + 1 < rows) {
      Row(x + at * d, weight, bias, out + at * d, d, eps);
      Row(x + (at + 1) * d, weight, bias, out + (at + 1) * d, d, eps);
    }
  }
}
