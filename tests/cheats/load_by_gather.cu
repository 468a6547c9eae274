// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the simulator's copy between lanes read from a tensor.
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
extern "C" void hone_sim_warp_gather(unsigned mask, unsigned tag, const void* mine, unsigned long bytes, void* all);
__device__ float read(const float* p) {
  float all[32];
  hone_sim_warp_gather(0xffffffffu, 9, p, 4, all);
  return fmaxf(all[threadIdx.x % 32], 0.0f);
}
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = read(x + i);
}
