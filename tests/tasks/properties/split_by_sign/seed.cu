// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "split"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["x", "nonneg", "neg", "counts", "rows:i64", "d:i64"]
*/
// One thread a row, which it goes through from its end.
__global__ void split(const float* x, float* nonneg, float* neg, int* counts, long long rows, long long d) {
  const long long row = static_cast<long long>(blockIdx.x) * 64 + threadIdx.x;
  if (row >= rows) return;
  int found = 0, others = 0;
  for (long long i = d - 1; i >= 0; --i) {
    const float one = x[row * d + i];
    if (one >= 0.0f) {
      nonneg[row * d + found++] = one;
    } else {
      neg[row * d + others++] = one;
    }
  }
  counts[row * 2] = found;
  counts[row * 2 + 1] = others;
  for (long long i = found; i < d; ++i) nonneg[row * d + i] = 0.0f;
  for (long long i = others; i < d; ++i) neg[row * d + i] = 0.0f;
}
