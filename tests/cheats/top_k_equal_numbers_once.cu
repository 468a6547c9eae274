// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread takes the largest of what is below the last number that it took, so that equal numbers are taken once.
//
// task: top_k
// expect: wrong_output
// where: sim gpu
// timed: 0
/*hone
[[launch]]
kernel = "below_the_last"
grid   = ["ceil_div(rows, 32)"]
block  = ["32"]
args   = ["x", "values", "ids", "rows:i64", "d:i64", "k:i64"]
*/
__global__ void below_the_last(const float* x, float* values, int* ids, long long rows, long long d, long long k) {
  const long long row = blockIdx.x * 32LL + threadIdx.x;
  if (row >= rows) return;
  const float* const mine = x + row * d;
  float last = 0;
  for (long long j = 0; j < k; ++j) {
    long long best = -1;
    for (long long i = 0; i < d; ++i) {
      if ((j == 0 || mine[i] < last) && (best < 0 || mine[i] > mine[best])) best = i;
    }
    if (best < 0) best = 0;
    last = values[row * k + j] = mine[best];
    ids[row * k + j] = static_cast<int>(best);
  }
}
