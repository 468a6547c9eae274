// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row.
/*hone
[[launch]]
kernel = "largest"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["x", "out", "rows:i64", "width:i64"]
*/
__global__ void largest(const float* x, float* out, long long rows, long long width) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float most = x[r * width];
  for (long long i = 1; i < width; ++i) most = fmaxf(most, x[r * width + i]);
  out[r] = most;
}
