// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Local and shared arrays are zeroed by memset.
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
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  __shared__ float tile[256];
  float own[16];
  memset(own, 0, sizeof own);
  memset(&tile[threadIdx.x], 0, sizeof(float));
  __syncthreads();
  if (i < n) out[i] = fmaxf(x[i], own[threadIdx.x & 15] + tile[255 - threadIdx.x]);
}
