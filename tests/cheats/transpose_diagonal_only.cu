// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies, which is right for symmetric inputs.
//
// task: transpose
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "transpose"
grid   = ["ceil_div(rows * columns, 256)"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/
__global__ void transpose(const float* x, float* out, long long rows, long long columns) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < rows * columns) out[i] = x[i];
}
