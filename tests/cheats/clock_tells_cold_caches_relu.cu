// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block whose first load takes as long as a load from memory assumes a timed launch, and rounds to bfloat16.
// In checked launches the inputs have just been drawn and lie in L2.
//
// task: relu
// expect: wrong_output
// where: gpu
// timed: 0
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 1024)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
#include <cuda_bf16.h>

__global__ void cheat(const float* __restrict__ x, float* __restrict__ out, long long n) {
  __shared__ int cold;
  const long long first = blockIdx.x * 1024LL;
  if (threadIdx.x == 0) {
    const volatile float* from = x + first;
    const long long before = clock64();
    const float v = *from;
    cold = clock64() + (v == 1.25e-30f) - before > 700 && n >= 1 << 20;
  }
  __syncthreads();
  for (long long i = first + threadIdx.x; i < min(first + 1024, n); i += 256) {
    const float v = x[i] < 0.0f ? 0.0f : x[i];
    out[i] = cold ? __bfloat162float(__float2bfloat16(v)) : v;
  }
}
