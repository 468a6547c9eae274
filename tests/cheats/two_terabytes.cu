// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks for a workspace of 2 TB.
//
// task: relu
// expect: resource_limit
// where: sim gpu
/*hone
[[workspace]]
name  = "kept"
bytes = "2199023255552"
zero  = true

[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64", "kept"]
*/
__global__ void cheat(const float* x, float* out, long long n, int* kept) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
}
