// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// {{name}} as one would write it first: a warp for each destination, its lanes side by side along the row, 16 bytes a load
// where rows start on 16-byte boundaries, else one element.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "aggregate<{{width}}>"
grid   = ["dim > 0 ? ceil_div(num_dst, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["x", "index", "degree"{{more_args}}, "out", "num_dst:i64", "fanout:i64", "dim:i64"]
when   = "dim % {{width}} == 0"

[[launch]]
kernel = "aggregate<1>"
grid   = ["ceil_div(num_dst, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "index", "degree"{{more_args}}, "out", "num_dst:i64", "fanout:i64", "dim:i64"]
*/
{{seed_head}}
{{plain_kernel}}