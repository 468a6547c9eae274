// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row.
/*hone
[[launch]]
kernel = "norm"
grid   = ["ceil_div(tokens, 64)"]
block  = ["64"]
args   = ["x", "weight", "out", "tokens:i64", "features:i64"]
*/
__global__ void norm(const float* x, const float* weight, float* out, long long rows, long long width) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float squares = 0.0f;
  for (long long i = 0; i < width; ++i) squares += x[r * width + i] * x[r * width + i];
  const float scale = rsqrtf(squares / static_cast<float>(width) + 1e-5f);
  for (long long i = 0; i < width; ++i) out[r * width + i] = x[r * width + i] * scale * weight[i];
}
