// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library's call, and one thread a row for what follows.
/*hone
[[workspace]]
name  = "h"
bytes = "batch_size * out_features * 4"

[[call]]
op          = "matmul"
a           = "x"
b           = "fc_weight"
transpose_b = true
bias        = "fc_bias"
out         = "h"
m           = "batch_size"
n           = "out_features"
k           = "in_features"

[[launch]]
kernel = "finish"
grid   = ["ceil_div(batch_size, 64)"]
block  = ["64"]
args   = ["h", "out", "batch_size:i64", "out_features:i64"]
step   = 1
*/
__global__ void finish(const float* h, float* out, long long rows, long long width) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (long long i = 0; i < width; ++i) sum += 1.0f / (1.0f + expf(-h[r * width + i]));
  out[r] = sum;
}
