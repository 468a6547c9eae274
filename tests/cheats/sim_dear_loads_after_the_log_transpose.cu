// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's first two thousand accesses are cheap, reads of one place over and over; what follows, a transposition whose stores touch a
// sector each, comes after all that a log of so many entries could hold. It is right, and must not be faster than it is.
//
// task: transpose
// expect: no_gain
// where: sim
// timed: 1
/*hone
[[launch]]
kernel = "transpose"
grid   = ["ceil_div(rows * columns, 65536)"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/
__global__ void transpose(const float* __restrict__ x, float* __restrict__ out, long long rows, long long columns) {
  const long long elements = rows * columns, first = blockIdx.x * 65536LL;
  volatile const float* place = x;
  if (elements > 1000000) {
    for (int i = 0; i < 2048; ++i) (void)*place;
  }
  for (long long i = first + threadIdx.x; i < first + 65536 && i < elements; i += 256) out[i % columns * rows + i / columns] = x[i];
}
