// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stages its data in dynamic shared memory.
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
shared = "1024"
*/
__global__ void relu(const float* x, float* out, long long n) {
  extern __shared__ float stage[];
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) stage[255 - threadIdx.x] = x[i];
  __syncthreads();
  if (i < n) out[i] = fmaxf(stage[255 - threadIdx.x], 0.0f);
}
