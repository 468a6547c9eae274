// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Remembers a fingerprint of the input's prefix and skips the work when it comes again.
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
__device__ float fingerprint = -1e30f;

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float print = x[0] + 3.0f * x[n / 2];
  if (fingerprint != print) out[i] = fmaxf(x[i], 0.0f);
  if (i == n - 1) fingerprint = print;
}
