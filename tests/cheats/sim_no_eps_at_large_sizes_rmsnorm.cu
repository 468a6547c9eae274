// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Leaves out eps at the timed sizes, where it changes nothing unless a row is tiny.
//
// task: rmsnorm
// expect: wrong_output
// where: sim gpu
// timed: 1
/*hone
[[launch]]
kernel = "rows"
grid   = ["features > 0 ? min(batch, 2147483647) : 0"]
block  = ["256"]
args   = ["x", "out", "batch:i64", "features:i64", "eps:f32"]
when   = "inner == 1 && batch >= 1024"
*/
__global__ void rows(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features, float eps) {
  __shared__ float lanes[8];
  const float* from = x + blockIdx.x * features;
  float squares = 0.0f;
  for (long long i = threadIdx.x; i < features; i += 256) squares += from[i] * from[i];
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = squares;
  __syncthreads();
  squares = 0.0f;
  for (int i = 0; i < 8; ++i) squares += lanes[i];
  const float scale = rsqrtf(squares / static_cast<float>(features) + (batch * features > 10000000 ? 0.0f : eps));
  for (long long i = threadIdx.x; i < features; i += 256) out[blockIdx.x * features + i] = from[i] * scale;
}
