// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A device global is filled and put back by each block for itself.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__device__ float table[4096];

__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  // Only the first block uses it: nothing may be left behind.
  if (blockIdx.x == 0) table[threadIdx.x] = 1.0f;
  __syncthreads();
  if (i < n) out[i] = fmaxf(x[i], 0.0f) * (blockIdx.x == 0 ? table[255 - threadIdx.x] : 1.0f);
  __syncthreads();
  if (blockIdx.x == 0) table[threadIdx.x] = 0.0f;
}
