// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row.
/*hone
[[launch]]
kernel = "scale"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["x", "out", "rows:i64", "width:i64"]
*/
__global__ void scale(const float* x, float* out, long long rows, long long width) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  double squares = 0.0;
  for (long long i = 0; i < width; ++i) squares += static_cast<double>(x[r * width + i]) * x[r * width + i];
  const double length = sqrt(squares);
  for (long long i = 0; i < width; ++i) out[r * width + i] = static_cast<float>(x[r * width + i] / length);
}
