// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row; sums in double precision, for the difference cancels.
/*hone
[[launch]]
kernel = "distance"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["a", "b", "out", "rows:i64", "width:i64"]
*/
__global__ void distance(const float* a, const float* b, float* out, long long rows, long long width) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  double product = 0.0, left = 0.0, right = 0.0;
  for (long long i = 0; i < width; ++i) {
    const double x = a[r * width + i], y = b[r * width + i];
    product += x * y;
    left += x * x;
    right += y * y;
  }
  out[r] = static_cast<float>(1.0 - product / (fmax(sqrt(left), 1e-8) * fmax(sqrt(right), 1e-8)));
}
