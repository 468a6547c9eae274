// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "oracle"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["x", "nonneg", "neg", "ref:counts", "ref:nonneg_kept", "ref:neg_kept", "rows:i64", "d:i64"]
*/
// Returns how many of `n` elements are `value`.
__device__ long long Occurrences(const float* elements, long long n, float value) {
  long long found = 0;
  for (long long i = 0; i < n; ++i) found += elements[i] == value ? 1 : 0;
  return found;
}

// One thread a row. Its own counts, and not the candidate's, say where the zeros begin.
__global__ void oracle(const float* x, const float* nonneg, const float* neg, double* counts, double* nonneg_kept, double* neg_kept,
                       long long rows, long long d) {
  const long long row = static_cast<long long>(blockIdx.x) * 64 + threadIdx.x;
  if (row >= rows) return;
  const float* mine = x + row * d;
  long long filled[2] = {0, 0};
  for (long long i = 0; i < d; ++i) ++filled[mine[i] >= 0.0f ? 0 : 1];
  const float* parts[2] = {nonneg + row * d, neg + row * d};
  double wrong[2] = {0.0, 0.0};
  for (int part = 0; part < 2; ++part) {
    // Both have equally many elements, so they hold the same ones if each of x's is there as often as in x.
    for (long long i = 0; i < d; ++i) {
      if ((mine[i] >= 0.0f ? 0 : 1) != part) continue;
      wrong[part] += Occurrences(parts[part], filled[part], mine[i]) == Occurrences(mine, d, mine[i]) ? 0.0 : 1.0;
    }
    for (long long i = filled[part]; i < d; ++i) wrong[part] += parts[part][i] == 0.0f ? 0.0 : 1.0;
    counts[row * 2 + part] = static_cast<double>(filled[part]);
  }
  nonneg_kept[row] = wrong[0];
  neg_kept[row] = wrong[1];
}
