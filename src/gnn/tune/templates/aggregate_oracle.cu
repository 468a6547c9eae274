// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to {{name}}: one thread an output, in double, slot by slot.
/*hone
[[launch]]
kernel = "aggregate_oracle"
grid   = ["ceil_div(num_dst * dim, 256)"]
block  = ["256"]
args   = ["x", "index", "degree"{{more_args}}, "ref:out", "num_dst * dim:i64", "fanout:i64", "dim:i64"]
*/
{{oracle_head}}
__global__ void aggregate_oracle(const {{x_type}}* x, const int* index, const int* degree{{more_parameters}}, double* out, long long elements,
                                 long long fanout, long long dim) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long v = i / dim;
  const long long count = degree[v] < fanout ? degree[v] : fanout;
  {{oracle_begin}}
  for (long long j = 0; j < count; ++j) {
    const long long u = index[v * fanout + j];
    const double value = HONE_ORACLE_IN(static_cast<float>(x[u * dim + i % dim]));
    {{oracle_add}}
  }
  out[i] = {{oracle_end}};
}
