// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library's call, and one thread an element for what follows.
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
grid   = ["ceil_div(batch_size * out_features, 128)"]
block  = ["128"]
args   = ["h", "out", "batch_size * out_features:i64"]
step   = 1
*/
__global__ void finish(const float* h, float* out, long long n) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < n) out[i] = fminf(fmaxf(h[i] * 1.5f - 0.25f, -1.0f), 1.0f);
}
