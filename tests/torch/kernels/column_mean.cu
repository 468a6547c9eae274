// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a column of a batch.
/*hone
[[launch]]
kernel = "mean"
grid   = ["ceil_div(batch_size * channels, 128)"]
block  = ["128"]
args   = ["x", "out", "batch_size * channels:i64", "length:i64", "channels:i64"]
*/
__global__ void mean(const float* x, float* out, long long n, long long length, long long channels) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (long long k = 0; k < length; ++k) sum += x[(i / channels * length + k) * channels + i % channels];
  out[i] = sum / static_cast<float>(length);
}
