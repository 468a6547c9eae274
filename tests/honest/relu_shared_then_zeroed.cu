// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sets all of its shared memory to zero before it adds to it.
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
__global__ void relu(const float* x, float* out, long long n) {
  __shared__ float sum[256];
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  sum[threadIdx.x] = 0.0f;
  __syncthreads();
  if (i < n) sum[threadIdx.x] += fmaxf(x[i], 0.0f);
  __syncthreads();
  if (i < n) out[i] = sum[threadIdx.x];
}
