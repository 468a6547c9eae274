// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows by columns, on a grid of two dimensions.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(d, 32)", "min(ceil_div(rows, 8), 65535)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i32", "d:i32"]
*/
__global__ void relu(const float* x, float* out, int rows, int d) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  for (int row = blockIdx.y * 8 + threadIdx.y; row < rows; row += gridDim.y * 8) {
    if (column < d) {
      const long long i = static_cast<long long>(row) * d + column;
      out[i] = fmaxf(x[i], 0.0f);
    }
  }
}
