// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads by a builtin of the host's processor, which has no access hook.
//
// task: relu
// expect: rule_violation,unsupported
// where: sim
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
typedef float Eight __attribute__((vector_size(32), aligned(4)));
__device__ float read(const float* p) {
  const auto v = __builtin_ia32_loadups(p);
  return fmaxf(v[0], 0.0f);
}
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = read(x + i);
}
