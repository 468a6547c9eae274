// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels named as functions of the host's C library are: select, index.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "select"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
when   = "d % 2 == 0"

[[launch]]
kernel = "index<1>"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
extern "C" __global__ void select(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < elements) out[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

template <int kStep>
__global__ void index(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < elements) out[i] = fmaxf(x[i], 0.0f);
}
