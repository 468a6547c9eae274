// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a group, whose channels lie side by side; sums in double precision.
/*hone
[[launch]]
kernel = "norm"
grid   = ["ceil_div(batch_size * 8, 64)"]
block  = ["64"]
args   = ["x", "norm_weight", "norm_bias", "out", "batch_size * 8:i64", "channels:i64", "height * width:i64"]
*/
__global__ void norm(const float* x, const float* weight, const float* bias, float* out, long long groups, long long channels,
                     long long pixels) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= groups) return;
  const long long own = channels / 8, count = own * pixels;
  const float* const mine = x + r * count;
  double mean = 0.0, squares = 0.0;
  for (long long i = 0; i < count; ++i) mean += mine[i];
  mean /= static_cast<double>(count);
  for (long long i = 0; i < count; ++i) squares += (mine[i] - mean) * (mine[i] - mean);
  const double scale = rsqrt(squares / static_cast<double>(count) + 1e-5);
  for (long long i = 0; i < count; ++i) {
    const long long channel = r % 8 * own + i / pixels;
    out[r * count + i] = static_cast<float>((mine[i] - mean) * scale) * weight[channel] + bias[channel];
  }
}
