// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "oracle"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["x", "ids", "ref:values", "ref:membership", "ref:distinct", "rows:i64", "d:i64", "k:i64"]
*/
// One thread a row. Of equal elements it takes the first; `ids`, which it only looks at, may name any of them.
__global__ void oracle(const __half* x, const int* ids, double* values, double* membership, double* distinct, long long rows,
                       long long d, long long k) {
  const long long row = static_cast<long long>(blockIdx.x) * 64 + threadIdx.x;
  if (row >= rows) return;
  const __half* mine = x + row * d;
  long long last = -1;
  double repeated = 0.0;
  for (long long j = 0; j < k; ++j) {
    long long best = -1;
    for (long long i = 0; i < d; ++i) {
      const double one = __half2float(mine[i]);
      const double before = last < 0 ? 0.0 : __half2float(mine[last]);
      if (last >= 0 && (one > before || (one == before && i <= last))) continue;
      if (best < 0 || one > __half2float(mine[best])) best = i;
    }
    const double value = __half2float(mine[best]);
    const long long named = ids[row * k + j];
    values[row * k + j] = value;
    membership[row * k + j] = named >= 0 && named < d && __half2float(mine[named]) == value ? 0.0 : 1.0;
    for (long long other = 0; other < j; ++other) repeated += ids[row * k + other] == named ? 1.0 : 0.0;
    last = best;
  }
  distinct[row] = repeated;
}
