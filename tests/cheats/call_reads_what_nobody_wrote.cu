// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds a product of scratch memory that nobody has written to the right one.
//
// task: matmul_f32
// expect: rule_violation,wrong_output
// where: sim gpu
/*hone
[[workspace]]
name  = "empty"
bytes = "k * n * 4"

[[workspace]]
name  = "product"
bytes = "m * n * 4"

[[call]]
op   = "matmul"
a    = "a"
b    = "empty"
out  = "product"
m    = "m"
n    = "n"
k    = "k"
when = "k > 0"

[[memset]]
target = "product"

[[call]]
step = 1
op   = "matmul"
a    = "a"
b    = "b"
out  = "c"
m    = "m"
n    = "n"
k    = "k"
when = "k > 0"

[[memset]]
step   = 1
target = "c"

[[launch]]
step   = 2
kernel = "add"
grid   = ["ceil_div(m * n, 128)"]
block  = ["128"]
args   = ["product", "c", "m * n:i64"]
*/
__global__ void add(const float* product, float* c, long long count) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < count) c[i] += product[i];
}
