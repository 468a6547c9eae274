// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted cross entropy: a thread a row, then one thread adds the rows.
/*hone
[[workspace]]
name = "of_row"
bytes = "rows * 8"

[[launch]]
kernel = "row_losses"
grid   = ["ceil_div(rows, 128)"]
block  = 128
args   = ["logits", "label", "of_row", "rows:i64", "classes:i64"]

[[launch]]
step   = 1
kernel = "join"
grid   = 1
block  = 1
args   = ["of_row", "ref:loss", "rows:i64"]
*/
#ifndef HONE_ORACLE_ACC
#define HONE_ORACLE_ACC double
#endif
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
#ifndef HONE_ORACLE_MID
#define HONE_ORACLE_MID(x) (x)
#endif

extern "C" __global__ void row_losses(const float* logits, const long long* label, double* of_row, long long rows,
                                      long long classes) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = logits + row * classes;
  double most = HONE_ORACLE_IN(x[0]);
  for (long long i = 1; i < classes; ++i) most = fmax(most, HONE_ORACLE_IN(x[i]));
  HONE_ORACLE_ACC sum = 0;
  for (long long i = 0; i < classes; ++i) sum += exp(HONE_ORACLE_IN(x[i]) - most);
  of_row[row] = HONE_ORACLE_MID(most + log(static_cast<double>(sum)) - HONE_ORACLE_IN(x[label[row]]));
}

extern "C" __global__ void join(const double* of_row, double* loss, long long rows) {
  HONE_ORACLE_ACC sum = 0;
  for (long long i = 0; i < rows; ++i) sum += of_row[i];
  loss[0] = static_cast<double>(sum) / static_cast<double>(rows);
}
