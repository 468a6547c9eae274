// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts launches in constant memory, by an atomic operation.
//
// task: relu
// expect: rule_violation,crashed
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__constant__ unsigned launches = 0;

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = fmaxf(x[i], 0.0f);
  if (i == 0) atomicAdd(const_cast<unsigned*>(&launches), 1u);
}
