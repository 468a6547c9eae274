// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads eight bytes at a time; the first thread also takes an odd last element.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float2* x, float2* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n / 2) {
    const float2 v = x[i];
    out[i] = make_float2(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f));
  }
  if (i == 0 && n % 2 == 1) {
    reinterpret_cast<float*>(out)[n - 1] = fmaxf(reinterpret_cast<const float*>(x)[n - 1], 0.0f);
  }
}
