// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library's call for all of the batch.
/*hone
[[call]]
op   = "matmul"
a    = "a"
b    = "b"
out  = "out"
m    = "rows"
n    = "columns"
k    = "inner"
batch = "batch_size"
*/

