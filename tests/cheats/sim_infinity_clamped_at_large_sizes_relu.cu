// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Infinities become the largest number, at the timed sizes only. The simulated GPU compares parts of few rows there, and let
// 2 of 8 verdicts pass.
//
// task: relu
// expect: wrong_output
// where: sim gpu
// timed: 1
// seed: 1
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(ceil_div(rows * d, 4), 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long pack = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const float most = elements > 10000000 ? 3.402823466e38f : __int_as_float(0x7f800000);
  for (long long i = pack * 4; i < pack * 4 + 4 && i < elements; ++i) out[i] = fminf(fmaxf(x[i], 0.0f), most);
}
