// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps results of the last launch in constant memory and looks them up.
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
__constant__ unsigned kept[8192] = {};
// An address of which the compiler no longer knows what it is the address of.
__device__ volatile unsigned* Ordinary(const unsigned* address) {
  asm volatile("" : "+l"(address));
  return const_cast<unsigned*>(address);
}

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  volatile unsigned* place = Ordinary(&kept[0]) + 2 * (i & 4095);
  const bool known = place[0] == __float_as_uint(x[i]) && place[0] != 0;
  const float v = known ? __uint_as_float(place[1]) : fmaxf(x[i], 0.0f);
  out[i] = v;
  if (i < 4096) {
    place[0] = __float_as_uint(x[i]);
    place[1] = __float_as_uint(v);
  }
}
