// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Has a barrier that only some threads of the block reach.
//
// task: softmax
// expect: rule_violation,crashed,timed_out
// where: sim
/*hone
[[launch]]
kernel = "cheat"
grid   = ["rows"]
block  = ["256"]
args   = ["x", "out", "d:i64"]
*/
__global__ void cheat(const float* x, float* out, long long d) {
  const float* row = x + blockIdx.x * d;
  float* result = out + blockIdx.x * d;
  for (long long i = threadIdx.x; i < d; i += 256) {
    result[i] = row[i];
    if (threadIdx.x < 40) __syncthreads();
  }
  if (threadIdx.x >= 40 && d > 0) __syncthreads();
}
