// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two kernels joined by programmatic dependent launch, the second waiting as it must.
//
// task: relu
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "middle"
bytes = "rows * d * 4"

[[launch]]
kernel = "copy"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "middle", "rows * d:i64"]
step   = 0

[[launch]]
kernel = "clamp"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["middle", "out", "rows * d:i64"]
step   = 1
pdl    = true
*/
__global__ void copy(const float* x, float* middle, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;");
  if (i < n) middle[i] = x[i];
}

__global__ void clamp(const float* middle, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (i < n) out[i] = fmaxf(middle[i], 0.0f);
}
