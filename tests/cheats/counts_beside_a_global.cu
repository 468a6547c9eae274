// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts launches in bytes behind a device variable that belong to no variable.
//
// task: relu
// expect: rule_violation
// where: gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__device__ unsigned mine = 1;
// An address of which the compiler no longer knows what it is the address of.
__device__ volatile unsigned* Ordinary(const unsigned* address) {
  asm volatile("" : "+l"(address));
  return const_cast<unsigned*>(address);
}

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = fmaxf(x[i], 0.0f);
  if (i == 0) {
    volatile unsigned* counter = Ordinary(&mine) + 1000;
    *counter = *counter + 1u;
  }
}
