// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an element.
/*hone
[[launch]]
kernel = "swish"
grid   = ["ceil_div(rows * width, 128)"]
block  = ["128"]
args   = ["x", "out", "rows * width:i64"]
*/
__global__ void swish(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < n) out[i] = x[i] * fminf(fmaxf(x[i] + 3.0f, 0.0f), 6.0f) / 6.0f;
}
