// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to {{name}}: one thread an output, the sum in double.
/*hone
[[launch]]
kernel = "attention_rows_backward_oracle"
grid   = ["ceil_div(num_src * dim, 128)"]
block  = ["128"]
args   = ["grad_out", "weight", "own_weight", "grad_logit", "own_grad", "folded", "row_offsets", "slot", "ref:grad_x",
          "num_src * dim:i64", "num_dst:i64", "fanout:i64", "heads:i64", "dim:i64"]
*/
{{oracle_head}}
__global__ void attention_rows_backward_oracle(const {{type}}* grad_out, const float* weight, const float* own_weight,
                                               const float* grad_logit, const float* own_grad, const float* folded,
                                               const int* row_offsets, const int* slot, double* grad_x,
                                               long long elements, long long num_dst, long long fanout, long long heads,
                                               long long dim) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long source = i / dim, column = i % dim;
  const auto row = [&](long long v, long long h) {
    return HONE_ORACLE_IN(static_cast<float>(grad_out[(v * heads + h) * dim + column]));
  };
  HONE_ORACLE_ACC sum = 0;
  for (long long h = 0; h < heads; ++h) {
    const double by_source = HONE_ORACLE_IN(folded[h * dim + column]);
    const double by_destination = HONE_ORACLE_IN(folded[(heads + h) * dim + column]);
    for (long long t = row_offsets[source]; t < row_offsets[source + 1]; ++t) {
      const long long e = slot[t];
      sum += HONE_ORACLE_MID(fabs(HONE_ORACLE_IN(weight[e * heads + h])) * row(e / fanout, h));
      sum += HONE_ORACLE_MID(HONE_ORACLE_IN(grad_logit[e * heads + h]) * by_source);
    }
    if (source >= num_dst) continue;
    sum += HONE_ORACLE_MID(fabs(HONE_ORACLE_IN(own_weight[source * heads + h])) * row(source, h));
    sum += HONE_ORACLE_MID(HONE_ORACLE_IN(own_grad[source * 2 * heads + h]) * by_source);
    sum += HONE_ORACLE_MID(HONE_ORACLE_IN(own_grad[(source * 2 + 1) * heads + h]) * by_destination);
  }
  grad_x[i] = static_cast<double>(sum);
}
