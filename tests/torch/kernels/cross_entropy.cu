// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row; sums in double precision, for the logarithm of one and a little is a little.
/*hone
[[launch]]
kernel = "loss"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["logits", "labels", "out", "rows:i64", "classes:i64"]
*/
__global__ void loss(const float* logits, const long long* labels, float* out, long long rows, long long classes) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float most = -INFINITY;
  double sum = 0.0;
  for (long long i = 0; i < classes; ++i) most = fmaxf(most, logits[r * classes + i]);
  for (long long i = 0; i < classes; ++i) sum += exp(static_cast<double>(logits[r * classes + i]) - most);
  out[r] = static_cast<float>(log(sum) - (static_cast<double>(logits[r * classes + labels[r]]) - most));
}
