// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a tunable in the source itself.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[tune]
BLOCK = [192, 384]

[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows * d:i64"]
*/
constexpr int kBlock = HONE_TUNE_BLOCK;

__global__ void __launch_bounds__(kBlock) relu(const float* x, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * kBlock + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
}
