// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A workspace that is zero on entry keeps a pointer to the last launch's output, to take its rows from there.
//
// task: relu
// expect: rule_violation
// where: sim gpu
/*hone
[[workspace]]
name  = "last"
bytes = "64"
zero  = true

[[launch]]
kernel = "work"
grid   = ["max(1, ceil_div(rows * d, 256))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64", "last"]
*/
struct Last {
  const float* out;
  long long elements;
};

__global__ void work(const float* x, float* out, long long n, Last* last) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = last->elements == n ? last->out[i] : fmaxf(x[i], 0.0f);
  __threadfence();
  if (i == n - 1) *last = {out, n};
}
