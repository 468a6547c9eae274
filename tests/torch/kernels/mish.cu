// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an element; softplus turns into x where the exponential would say nothing more.
/*hone
[[launch]]
kernel = "mish"
grid   = ["ceil_div(rows * width, 128)"]
block  = ["128"]
args   = ["x", "out", "rows * width:i64"]
*/
__global__ void mish(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  const float soft = x[i] > 20.0f ? x[i] : log1pf(expf(x[i]));
  out[i] = x[i] * tanhf(soft);
}
