// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls the simulator's own load for atomic operations, which announces no access.
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
__device__ float read(const float* p) {
  return fmaxf(__int_as_float(hone_sim::LoadRelaxed(reinterpret_cast<const int*>(p))), 0.0f);
}
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = read(x + i);
}
