// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps state in a variable of internal linkage, which no symbol table lists by name.
//
// task: relu
// expect: rule_violation,unsupported
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
namespace {
__device__ int hidden;
}  // namespace

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = hidden > 0 ? out[i] : fmaxf(x[i], 0.0f);
  if (i == 0) hidden = hidden + 1;
}
