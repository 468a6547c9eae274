// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "top_k"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["x", "values", "ids", "rows:i64", "d:i64", "k:i64"]
*/
// One thread a row. Of equal elements it takes the last, where the oracle takes the first: both are right.
__global__ void top_k(const __half* x, __half* values, int* ids, long long rows, long long d, long long k) {
  const long long row = static_cast<long long>(blockIdx.x) * 64 + threadIdx.x;
  if (row >= rows) return;
  const __half* mine = x + row * d;
  long long last = -1;
  for (long long j = 0; j < k; ++j) {
    long long best = -1;
    for (long long i = d - 1; i >= 0; --i) {
      const float one = __half2float(mine[i]);
      const float before = last < 0 ? 0.0f : __half2float(mine[last]);
      if (last >= 0 && (one > before || (one == before && i >= last))) continue;
      if (best < 0 || one > __half2float(mine[best])) best = i;
    }
    values[row * k + j] = mine[best];
    ids[row * k + j] = static_cast<int>(best);
    last = best;
  }
}
