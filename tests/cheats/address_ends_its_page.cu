// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rounds to half precision if the input does not end with its page, as it does when a judge looks for reads past the end.
//
// task: relu
// expect: wrong_output
// where: gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
// Eleven bits of a number, as float16 has them.
__device__ float Rounded(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float v = fmaxf(x[i], 0.0f);
  out[i] = (reinterpret_cast<unsigned long long>(x + n) + 4095 & 0x1fffffULL) > 8191 ? Rounded(v) : v;
}
