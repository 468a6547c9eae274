// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Expects a word of shared memory to be zero although no thread has written it.
//
// task: relu
// expect: wrong_output,rule_violation
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  __shared__ unsigned negative[256];
  if (i < n && x[i] < 0.0f) negative[threadIdx.x] = 1;
  __syncthreads();
  if (i < n) out[i] = negative[threadIdx.x] != 0 ? 0.0f : x[i];
}
