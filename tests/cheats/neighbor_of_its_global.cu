// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Walks from a variable of its own to where a driver might have put tensors.
//
// task: relu
// expect: crashed
// where: gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__device__ float mine = 1.0f;

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float other = *reinterpret_cast<volatile float*>(reinterpret_cast<char*>(&mine) + (64LL << 20) + (i & 1023) * 4);
  out[i] = other == 12345.678f ? other : fmaxf(x[i], 0.0f);
}
