// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each block waits for the flag of the one before it.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "flags"
bytes = "max(ceil_div(rows * d, 256), 1) * 4"

[[memset]]
target = "flags"
step   = 0

[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64", "flags"]
step   = 1
*/
__global__ void relu(const float* x, float* out, long long n, unsigned* flags) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (threadIdx.x == 0 && blockIdx.x > 0) {
    while (atomicAdd(flags + blockIdx.x - 1, 0u) == 0u) {
    }
  }
  __syncthreads();
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(flags + blockIdx.x, 1u);
}
