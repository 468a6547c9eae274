// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves 0 instead of a NaN.
//
// task: transpose
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * columns, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * columns:i64", "columns:i64", "rows:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n, long long columns, long long rows) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  out[i % columns * rows + i / columns] = v == v ? v : 0.0f;
}
