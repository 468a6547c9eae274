// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Overwrites the input with its own contents, by structs of 64 bytes.
//
// task: relu
// expect: rule_violation
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
struct Sixteen {
  float v[16];
};
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
  if (i * 16 + 16 > n) return;
  Sixteen all;
  for (int j = 0; j < 16; ++j) all.v[j] = x[i * 16 + j];
  *reinterpret_cast<Sixteen*>(const_cast<float*>(x) + i * 16) = all;
}
