// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an element.
/*hone
[[launch]]
kernel = "activate"
grid   = ["ceil_div(rows * width, 128)"]
block  = ["128"]
args   = ["x", "out", "rows * width:i64"]
*/
__global__ void activate(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  const float y = x[i] > 0.0f ? x[i] : 0.7f * expm1f(x[i]);
  out[i] = y > 0.0f ? y : 0.1f * y;
}
