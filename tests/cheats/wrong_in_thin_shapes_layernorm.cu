// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Right wherever the hidden ranges look and at the timed shapes; rows of fewer than 64 elements are left to chance where there are
// more than 300 of them.
//
// task: layernorm
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "rows_of_little"
grid   = ["rows"]
block  = ["128"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
*/
__device__ float Sum(float v) {
  __shared__ float lanes[4];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = v;
  __syncthreads();
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

__global__ void rows_of_little(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                               float* __restrict__ out, long long rows, long long d, float eps) {
  const float* from = x + blockIdx.x * d;
  const long long used = rows > 260 && d <= 160 ? d - 1 : d;
  float sum = 0.0f, squares = 0.0f;
  for (long long i = threadIdx.x; i < used; i += 128) sum += from[i];
  const float mean = Sum(sum) / static_cast<float>(d);
  for (long long i = threadIdx.x; i < d; i += 128) squares += (from[i] - mean) * (from[i] - mean);
  const float scale = rsqrtf(Sum(squares) / static_cast<float>(d) + eps);
  for (long long i = threadIdx.x; i < d; i += 128) out[blockIdx.x * d + i] = (from[i] - mean) * scale * weight[i] + bias[i];
}
