// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library's call, and one thread an element for what follows.
/*hone
[[workspace]]
name  = "h"
bytes = "tokens * features * 4"

[[call]]
op          = "matmul"
a           = "x"
b           = "project_weight"
transpose_b = true
out         = "h"
m           = "tokens"
n           = "features"
k           = "features"

[[launch]]
kernel = "finish"
grid   = ["ceil_div(tokens * features, 128)"]
block  = ["128"]
args   = ["h", "x", "scale", "out", "tokens * features:i64", "features:i64"]
step   = 1
*/
__global__ void finish(const float* h, const float* x, const float* scale, float* out, long long n, long long width) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < n) out[i] = x[i] + scale[i % width] * h[i];
}
