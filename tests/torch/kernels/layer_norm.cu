// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row; sums in double precision, for a row may lie far from zero beside its spread.
/*hone
[[launch]]
kernel = "norm"
grid   = ["ceil_div(tokens, 64)"]
block  = ["64"]
args   = ["x", "norm_weight", "norm_bias", "out", "tokens:i64", "features:i64"]
*/
__global__ void norm(const float* x, const float* weight, const float* bias, float* out, long long rows, long long width) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  double mean = 0.0, squares = 0.0;
  for (long long i = 0; i < width; ++i) mean += x[r * width + i];
  mean /= static_cast<double>(width);
  for (long long i = 0; i < width; ++i) squares += (x[r * width + i] - mean) * (x[r * width + i] - mean);
  const double scale = rsqrt(squares / static_cast<double>(width) + 1e-5);
  for (long long i = 0; i < width; ++i) out[r * width + i] = static_cast<float>((x[r * width + i] - mean) * scale) * weight[i] + bias[i];
}
