// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel of the plan is named by a macro of the file.
//
// task: relu
// expect: ok
// where: sim
/*hone
[[launch]]
kernel = "THE_KERNEL"
grid   = ["ceil_div(rows * d, 1024)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
#define THE_KERNEL relu_of<4>
template <int kEach>
__global__ void relu_of(const float* x, float* out, long long n) {
  const long long first = (blockIdx.x * 256LL + threadIdx.x) * kEach;
  for (int j = 0; j < kEach; ++j) {
    if (first + j < n) out[first + j] = fmaxf(x[first + j], 0.0f);
  }
}
