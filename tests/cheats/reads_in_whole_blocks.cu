// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Every thread of the last block loads an element; only those with an element inside write one.
//
// task: relu
// expect: crashed
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256) + 1"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  const float v = *static_cast<const volatile float*>(x + i + (i >= n ? 256 : 0));
  if (i < n) out[i] = fmaxf(v, 0.0f);
}
