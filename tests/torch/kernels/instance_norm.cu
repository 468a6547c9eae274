// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a channel of an image.
/*hone
[[launch]]
kernel = "norm"
grid   = ["ceil_div(batch_size * channels, 64)"]
block  = ["64"]
args   = ["x", "out", "batch_size * channels:i64", "pixels:i64"]
*/
__global__ void norm(const float* x, float* out, long long rows, long long pixels) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float mean = 0.0f, squares = 0.0f;
  for (long long i = 0; i < pixels; ++i) mean += x[r * pixels + i];
  mean /= static_cast<float>(pixels);
  for (long long i = 0; i < pixels; ++i) squares += (x[r * pixels + i] - mean) * (x[r * pixels + i] - mean);
  const float scale = rsqrtf(squares / static_cast<float>(pixels) + 1e-5f);
  for (long long i = 0; i < pixels; ++i) out[r * pixels + i] = (x[r * pixels + i] - mean) * scale;
}
