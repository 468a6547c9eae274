// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row.
/*hone
[[launch]]
kernel = "rows_of"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["a", "v", "out", "rows:i64", "inner:i64"]
*/
__global__ void rows_of(const float* a, const float* v, float* out, long long rows, long long inner) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (long long k = 0; k < inner; ++k) sum += a[r * inner + k] * v[k];
  out[r] = sum;
}
