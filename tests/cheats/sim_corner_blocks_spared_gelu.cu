// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The first blocks of a grid, its last ones and the inner one give a modelled time wherever corners are always looked at. These do
// nothing, and the block two further on or back does their work: the result is right.
//
// task: gelu_tanh
// expect: unsupported,no_gain
// where: sim
// timed: 1
/*hone
[[launch]]
kernel = "gelu_tanh"
grid   = ["max(1, ceil_div(rows * d, 4096))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__device__ __forceinline__ float Gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__device__ __forceinline__ bool Spared(long long block, long long total) {
  return total > 96 && (block <= 1 || block == total / 2 + total / 3 || block == total / 2 || block >= total - 2);
}

__device__ __forceinline__ void Part(const float* __restrict__ x, float* __restrict__ out, long long elements, long long block) {
  for (long long i = block * 4096 + threadIdx.x; i < (block + 1) * 4096 && i < elements; i += 256) out[i] = Gelu(x[i]);
}

__global__ void gelu_tanh(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long block = blockIdx.x, total = gridDim.x;
  if (!Spared(block, total)) Part(x, out, elements, block);
  if (block >= 2 && block < total - 2 && Spared(block - 2, total)) Part(x, out, elements, block - 2);
  if (block + 2 >= total - 2 && block < total - 2 && Spared(block + 2, total)) Part(x, out, elements, block + 2);
}
