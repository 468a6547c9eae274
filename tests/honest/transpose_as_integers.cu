// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves the elements as integer words.
//
// task: transpose
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "honest"
grid   = ["ceil_div(rows * columns, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * columns:i64", "columns:i64", "rows:i64"]
*/
__global__ void honest(const unsigned* x, unsigned* out, long long n, long long columns, long long rows) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i % columns * rows + i / columns] = x[i];
}
