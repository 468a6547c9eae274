// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block a channel: mean and variance over batch and pixels, the running statistics, the result.
/*hone
[[launch]]
kernel = "batch_norm"
grid   = ["channels"]
block  = ["128"]
args   = ["x", "norm_weight", "norm_bias", "norm_running_mean", "norm_running_var", "out", "batch_size:i64", "channels:i64", "pixels:i64"]
*/
__device__ float BlockSum(float value, float* lanes) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
  __syncthreads();
  value = lanes[0] + lanes[1] + lanes[2] + lanes[3];
  __syncthreads();
  return value;
}
__global__ void batch_norm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                           float* running_mean, float* running_var, float* __restrict__ out, long long batch, long long channels,
                           long long pixels) {
  __shared__ float lanes[4];
  const long long channel = blockIdx.x, count = batch * pixels;
  const auto place = [&](long long i) { return (i / pixels * channels + channel) * pixels + i % pixels; };
  float sum = 0.0f, squares = 0.0f;
  for (long long i = threadIdx.x; i < count; i += 128) sum += x[place(i)];
  const float mean = BlockSum(sum, lanes) / static_cast<float>(count);
  for (long long i = threadIdx.x; i < count; i += 128) squares += (x[place(i)] - mean) * (x[place(i)] - mean);
  squares = BlockSum(squares, lanes);
  const float variance = squares / static_cast<float>(count), scale = weight[channel] / sqrtf(variance + 1e-5f);
  for (long long i = threadIdx.x; i < count; i += 128) out[place(i)] = (x[place(i)] - mean) * scale + bias[channel];
  if (threadIdx.x == 0) {
    running_mean[channel] = 0.9f * running_mean[channel] + 0.1f * mean;
    running_var[channel] = 0.9f * running_var[channel] + 0.1f * squares / static_cast<float>(count - 1);
  }
}
