// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a 16-byte load from a 4-byte boundary.
//
// task: relu
// expect: crashed
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = fmaxf(x[i], 0.0f);
  if (i == 0 && n > 16) {
    const float4 v = *reinterpret_cast<const float4*>(x + 1);
    *reinterpret_cast<float4*>(out + 1) = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
}
