// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Right at every size that is checked; at the timed one it multiplies by the transpose.
//
// task: matmul_f32
// expect: wrong_output
// where: sim gpu
// timed: 0
/*hone
[[call]]
op          = "matmul"
a           = "a"
b           = "b"
transpose_b = true
out         = "c"
m           = "m"
n           = "n"
k           = "k"
when        = "m == 1024 && n == 1024 && k == 1024"

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
