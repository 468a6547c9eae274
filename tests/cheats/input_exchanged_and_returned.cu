// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes a flag through the bits of an input and removes it again.
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
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  unsigned* word = reinterpret_cast<unsigned*>(const_cast<float*>(x)) + i;
  const unsigned was = atomicExch(word, 0x48u);
  out[i] = fmaxf(__uint_as_float(was), 0.0f);
  atomicExch(word, was);
}
