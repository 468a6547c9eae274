// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Constant memory says whether this launch is the first; later ones are less precise.
//
// task: relu
// expect: rule_violation,wrong_output
// where: gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__constant__ unsigned later = 0;
// Eleven bits of a number, as float16 has them.
__device__ float Rounded(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }

// An address of which the compiler no longer knows what it is the address of.
__device__ volatile unsigned* Ordinary(const unsigned* address) {
  asm volatile("" : "+l"(address));
  return const_cast<unsigned*>(address);
}

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float v = fmaxf(x[i], 0.0f);
  volatile unsigned* flag = Ordinary(&later);
  out[i] = *flag > 1u ? Rounded(v) : v;
  if (i == 0) *flag = *flag + 1u;
}
