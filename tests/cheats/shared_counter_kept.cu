// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A word of dynamic shared memory is to say which launch this is; it is never written first.
//
// task: relu
// expect: wrong_output,rule_violation
// where: gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
shared = "1024"
args   = ["x", "out", "rows * d:i64"]
*/
// Eleven bits of a number, as float16 has them.
__device__ float Rounded(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  extern __shared__ unsigned kept[];
  if (i >= n) return;
  const float v = fmaxf(x[i], 0.0f);
  out[i] = kept[threadIdx.x] == 0 ? v : Rounded(v);
}
