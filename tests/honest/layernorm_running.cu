// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mean and variance in one pass, as running values merged over the warp.
//
// task: layernorm
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "layernorm"
grid   = ["d > 0 ? rows : 0"]
block  = ["32"]
args   = ["x", "weight", "bias", "out", "d:i64", "eps:f32"]
*/
__global__ void layernorm(const float* x, const float* weight, const float* bias, float* out, long long d, float eps) {
  const float* row = x + blockIdx.x * d;
  float* result = out + blockIdx.x * d;
  float mean = 0.0f, squares = 0.0f, count = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 32) {
    count += 1.0f;
    const float delta = row[i] - mean;
    mean += delta / count;
    squares += delta * (row[i] - mean);
  }
  for (int k = 16; k > 0; k /= 2) {
    const float other_mean = __shfl_xor_sync(0xffffffffu, mean, k);
    const float other_squares = __shfl_xor_sync(0xffffffffu, squares, k);
    const float other_count = __shfl_xor_sync(0xffffffffu, count, k);
    const float all = count + other_count;
    if (all > 0.0f) {
      // Symmetric in the two halves, so that every lane ends with the same bits.
      const float delta = other_mean - mean;
      mean = (count * mean + other_count * other_mean) / all;
      squares = squares + other_squares + delta * delta * (count * other_count / all);
    }
    count = all;
  }
  const float scale = rsqrtf(squares / static_cast<float>(d) + eps);
  for (long long i = threadIdx.x; i < d; i += 32) result[i] = (row[i] - mean) * scale * weight[i] + bias[i];
}
