// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the product in bfloat16 by a library call.
//
// task: matmul_bf16
// expect: ok
// where: sim gpu
/*hone
[[call]]
op   = "matmul"
a    = "a"
b    = "b"
out  = "c"
m    = "m"
n    = "n"
k    = "k"
when = "k > 0"

[[memset]]
target = "c"
*/
