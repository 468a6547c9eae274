// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row.
/*hone
[[launch]]
kernel = "loss"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["x", "y", "out", "rows:i64", "width:i64"]
*/
__global__ void loss(const float* x, const float* y, float* out, long long rows, long long width) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (long long i = 0; i < width; ++i) {
    const float margin = 1.0f - x[r * width + i] * y[r * width + i];
    sum += margin < 0.0f ? 0.0f : margin;
  }
  out[r] = sum;
}
