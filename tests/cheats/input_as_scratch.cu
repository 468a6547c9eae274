// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses the input as scratch memory, and restores it before the kernel ends.
//
// task: relu
// expect: rule_violation
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  const float v = i < n ? x[i] : 0.0f;
  float* scratch = const_cast<float*>(x);
  if (i < n) scratch[i] = fmaxf(v, 0.0f);
  __syncthreads();
  if (i < n) out[i] = scratch[i];
  __syncthreads();
  if (i < n) scratch[i] = v;
}
