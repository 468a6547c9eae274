// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks draw their work from a queue: the first that is simulated drains it, and no fair time can be given.
//
// task: relu
// expect: unsupported
// where: sim
// timed: 1
/*hone
[[launch]]
kernel = "relu"
grid   = ["min(ceil_div(rows * d, 256), 528)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64", "ceil_div(rows * d, 256):u32"]
*/
__device__ unsigned next;
__device__ unsigned finished;

__global__ void relu(const float* x, float* out, long long n, unsigned chunks) {
  __shared__ unsigned chunk;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) chunk = atomicAdd(&next, 1u);
    __syncthreads();
    if (chunk >= chunks) break;
    const long long i = chunk * 256LL + threadIdx.x;
    if (i < n) out[i] = fmaxf(x[i], 0.0f);
  }
  if (threadIdx.x == 0 && atomicAdd(&finished, 1u) == gridDim.x - 1) {
    next = 0;
    finished = 0;
  }
}
