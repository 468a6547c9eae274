// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// {{name}} as one would write it first: a warp for each source, its lanes side by side along the row, 16 bytes a load where
// rows start on 16-byte boundaries, else one element. Slots are added in their order.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "aggregate_backward<{{width}}>"
grid   = ["dim > 0 ? ceil_div(num_src, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["grad_out"{{weight_arg}}, "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
when   = "dim % {{width}} == 0"

[[launch]]
kernel = "aggregate_backward<1>"
grid   = ["ceil_div(num_src, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["grad_out"{{weight_arg}}, "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
*/
{{seed_head}}
{{plain_kernel}}