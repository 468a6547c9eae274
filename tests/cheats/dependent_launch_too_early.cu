// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Releases its second kernel before the first has written, and never waits.
//
// task: relu
// expect: wrong_output
// where: gpu
/*hone
[[workspace]]
name  = "middle"
bytes = "rows * d * 4"

[[launch]]
step   = 0
kernel = "first"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "middle", "rows * d:i64"]

[[launch]]
step   = 1
kernel = "second"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
pdl    = true
args   = ["middle", "out", "rows * d:i64"]
*/
__global__ void first(const float* x, float* middle, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;");
  for (int k = 0; k < 200; ++k) __nanosleep(1000);
  if (i < n) middle[i] = fmaxf(x[i], 0.0f);
}

__global__ void second(const float* middle, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = middle[i];
}
