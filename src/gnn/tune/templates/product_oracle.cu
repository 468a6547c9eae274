// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to {{name}}: one thread an output, the sum in double.
/*hone
[[launch]]
kernel = "product_oracle"
grid   = ["ceil_div({{m}} * {{n}}, 128)"]
block  = ["128"]
args   = ["{{a}}", "{{b}}", "ref:{{c}}", "{{m}}:i64", "{{n}}:i64", "{{k}}:i64"]
*/
{{oracle_head}}
// c [m, n] = a b, of which b's columns and a's rows are k long.
__global__ void product_oracle(const {{type}}* a, const {{type}}* b, double* c, long long m, long long n, long long k) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const long long row = i / n, column = i % n;
  HONE_ORACLE_ACC sum = 0;
  for (long long step = 0; step < k; ++step) {
    sum += HONE_ORACLE_IN(static_cast<float>(a[{{a_at}}])) * HONE_ORACLE_IN(static_cast<float>(b[{{b_at}}]));
  }
  c[i] = HONE_ORACLE_MID(static_cast<double>(sum));
}
