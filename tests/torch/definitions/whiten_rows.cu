// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "whiten_rows"
grid   = ["rows"]
block  = ["32"]
args   = ["x", "row_var", "y"]
*/
__global__ void whiten_rows(const float* x, const float* row_var, float* y) {
  const long long row = blockIdx.x;
  y[row * 32 + threadIdx.x] = x[row * 64 + threadIdx.x] * rsqrtf(row_var[row]);
}
