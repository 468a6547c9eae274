// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an element.
/*hone
[[launch]]
kernel = "scale"
grid   = ["ceil_div(rows * width, 128)"]
block  = ["128"]
args   = ["d", "m", "out", "rows * width:i64", "width:i64"]
*/
__global__ void scale(const float* d, const float* m, float* out, long long n, long long width) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < n) out[i] = d[i / width] * m[i];
}
