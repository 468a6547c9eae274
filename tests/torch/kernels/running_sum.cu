// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread a row.
/*hone
[[launch]]
kernel = "add"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["x", "out", "rows:i64", "length:i64"]
*/
__global__ void add(const float* x, float* out, long long rows, long long length) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (long long i = 0; i < length; ++i) out[r * length + i] = sum += x[r * length + i];
}
