// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library's call, and one thread a row for what follows.
/*hone
[[workspace]]
name  = "h"
bytes = "tokens * features * 4"

[[call]]
op          = "matmul"
a           = "x"
b           = "fc_weight"
transpose_b = true
bias        = "fc_bias"
out         = "h"
m           = "tokens"
n           = "features"
k           = "features"

[[launch]]
kernel = "finish"
grid   = ["ceil_div(tokens, 64)"]
block  = ["64"]
args   = ["h", "x", "norm_weight", "norm_bias", "out", "tokens:i64", "features:i64"]
step   = 1
*/
__global__ void finish(const float* h, const float* x, const float* weight, const float* bias, float* out, long long rows, long long width) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float mean = 0.0f, squares = 0.0f;
  for (long long i = 0; i < width; ++i) mean += h[r * width + i];
  mean /= static_cast<float>(width);
  for (long long i = 0; i < width; ++i) squares += (h[r * width + i] - mean) * (h[r * width + i] - mean);
  const float scale = rsqrtf(squares / static_cast<float>(width) + 1e-5f);
  for (long long i = 0; i < width; ++i) out[r * width + i] = x[r * width + i] + (h[r * width + i] - mean) * scale * weight[i] + bias[i];
}
