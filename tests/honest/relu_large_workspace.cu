// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Goes through a workspace that is eight times as large as its input.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "middle"
bytes = "rows * d * 32"

[[launch]]
step   = 0
kernel = "spread"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "middle", "rows * d:i64"]

[[launch]]
step   = 1
kernel = "gather"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["middle", "out", "rows * d:i64"]
*/
__global__ void spread(const float* x, float* middle, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) middle[i * 8 + 7] = fmaxf(x[i], 0.0f);
}
__global__ void gather(const float* middle, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = middle[i * 8 + 7];
}
