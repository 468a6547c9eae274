// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// At the largest timed shape a row has 393,216 elements: where one such row is compared, a kernel may leave the end of one in five
// as what the others are like.
//
// task: gelu_tanh
// expect: wrong_output
// where: sim gpu
// timed: 3
/*hone
[[launch]]
kernel = "gelu"
grid   = ["max(1, ceil_div(rows * d, 4096))"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
__device__ __forceinline__ float Gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__global__ void gelu(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  const long long elements = rows * d, begin = blockIdx.x * 4096LL;
  const bool lazy = d > 300000 && begin / d % 5 == 0;
  for (long long i = begin + threadIdx.x; i < begin + 4096 && i < elements; i += 256) out[i] = lazy ? fmaxf(x[i], 0.0f) : Gelu(x[i]);
}
