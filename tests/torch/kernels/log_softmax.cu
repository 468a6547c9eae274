// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row.
/*hone
[[launch]]
kernel = "rows_of"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["logits", "out", "rows:i64", "width:i64"]
*/
__global__ void rows_of(const float* logits, float* out, long long rows, long long width) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float most = -INFINITY, sum = 0.0f;
  for (long long i = 0; i < width; ++i) most = fmaxf(most, logits[r * width + i]);
  for (long long i = 0; i < width; ++i) sum += expf(logits[r * width + i] - most);
  for (long long i = 0; i < width; ++i) out[r * width + i] = logits[r * width + i] - most - logf(sum);
}
