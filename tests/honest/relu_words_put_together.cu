// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Macros put names together.
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
#define JOIN(a, b) a##b
#define NAMED(prefix, suffix) JOIN(prefix, suffix)
__device__ float NAMED(posi, tive)(float v) { return fmaxf(v, 0.0f); }
#define STORE(index, value) out[index] = value

__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) STORE(i, positive(x[i]));
}
