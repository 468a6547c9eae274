// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block hopes to find in shared memory what the block before it has left.
//
// task: relu
// expect: rule_violation
// where: sim
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  __shared__ float kept[256];
  const float v = kept[threadIdx.x];
  __syncthreads();
  kept[threadIdx.x] = i < n ? x[i] : 0.0f;
  if (i < n) out[i] = fmaxf(v == x[i] ? v : kept[threadIdx.x], 0.0f);
}
