// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stages its data in shared memory by cp.async.
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
#include <cuda_pipeline.h>

__global__ void relu(const float* x, float* out, long long n) {
  __shared__ float stage[256];
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) __pipeline_memcpy_async(&stage[threadIdx.x], x + i, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (i < n) out[i] = fmaxf(stage[threadIdx.x], 0.0f);
}
