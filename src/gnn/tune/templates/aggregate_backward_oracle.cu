// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to {{name}}: one thread an output, the sum in double.
/*hone
[[launch]]
kernel = "aggregate_backward_oracle"
grid   = ["ceil_div(num_src * dim, 128)"]
block  = ["128"]
args   = ["grad_out"{{weight_arg}}, "row_offsets", "slot", "ref:grad_x", "num_src * dim:i64", "fanout:i64", "dim:i64"]
*/
{{oracle_head}}
__global__ void aggregate_backward_oracle(const {{type}}* grad_out{{weight_parameter}}, const int* row_offsets, const int* slot,
                                          double* grad_x, long long elements, long long fanout, long long dim) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long source = i / dim;
  HONE_ORACLE_ACC sum = 0;
  for (long long t = row_offsets[source]; t < row_offsets[source + 1]; ++t) {
    const long long v = slot[t] / fanout;
    const double value = HONE_ORACLE_IN(static_cast<float>(grad_out[v * dim + i % dim]));
    {{oracle_add}}
  }
  grad_x[i] = {{oracle_end}};
}
