// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to {{name}}: one thread an output.
/*hone
[[launch]]
kernel = "gather_oracle"
grid   = ["ceil_div(rows * dim, 256)"]
block  = ["256"]
args   = ["x", "index", "ref:out", "rows * dim:i64", "dim:i64"]
*/
{{oracle_head}}
__global__ void gather_oracle(const {{x_type}}* x, const int* index, double* out, long long elements, long long dim) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < elements) out[i] = HONE_ORACLE_MID(HONE_ORACLE_IN(static_cast<float>(x[index[i / dim] * dim + i % dim])));
}
