// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library's call, and zeros above the diagonal afterwards.
/*hone
[[call]]
op   = "matmul"
a    = "a"
b    = "b"
out  = "out"
m    = "size"
n    = "size"
k    = "inner"

[[launch]]
kernel = "cut"
grid   = ["ceil_div(size * size, 128)"]
block  = ["128"]
args   = ["out", "size:i64"]
step   = 1
*/
__global__ void cut(float* out, long long size) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < size * size && i % size > i / size) out[i] = 0.0f;
}
