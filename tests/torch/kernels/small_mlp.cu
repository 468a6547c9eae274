// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Three of a library's calls, the activations in them.
/*hone
[[workspace]]
name  = "first"
bytes = "batch_size * hidden * 4"

[[workspace]]
name  = "second"
bytes = "batch_size * hidden * 4"

[[call]]
step        = 0
op          = "matmul"
a           = "x"
b           = "layers_0_weight"
transpose_b = true
bias        = "layers_0_bias"
epilogue    = "relu"
out         = "first"
m           = "batch_size"
n           = "hidden"
k           = "in_features"

[[call]]
step        = 1
op          = "matmul"
a           = "first"
b           = "layers_2_weight"
transpose_b = true
bias        = "layers_2_bias"
epilogue    = "relu"
out         = "second"
m           = "batch_size"
n           = "hidden"
k           = "hidden"

[[call]]
step        = 2
op          = "matmul"
a           = "second"
b           = "layers_4_weight"
transpose_b = true
bias        = "layers_4_bias"
out         = "out"
m           = "batch_size"
n           = "classes"
k           = "hidden"
*/

