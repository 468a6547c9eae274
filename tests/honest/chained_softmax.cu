// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two steps by programmatic dependent launch that do wait, and a workspace as large as the output that holds the exponentials in between.
//
// task: softmax
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name  = "exponentials"
bytes = "max(4, rows * d * 4)"

[[workspace]]
name  = "scales"
bytes = "max(4, rows * 4)"

[[launch]]
kernel = "exponentials_of"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["256"]
args   = ["x", "exponentials", "scales", "rows:i64", "d:i64"]
step   = 0

[[launch]]
kernel = "scaled"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["256"]
args   = ["exponentials", "scales", "out", "rows:i64", "d:i64"]
step   = 1
pdl    = true
*/
__global__ void exponentials_of(const float* __restrict__ x, float* __restrict__ e, float* __restrict__ scales, long long rows,
                                long long d) {
  __shared__ float lanes[8];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    float top = -3.402823466e38f;
    for (long long i = threadIdx.x; i < d; i += 256) top = fmaxf(top, x[row * d + i]);
    for (int offset = 16; offset > 0; offset /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, offset));
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = top;
    __syncthreads();
    top = lanes[0];
    for (int i = 1; i < 8; ++i) top = fmaxf(top, lanes[i]);
    __syncthreads();
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < d; i += 256) {
      const float v = __expf(x[row * d + i] - top);
      e[row * d + i] = v;
      sum += v;
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      float all = 0.0f;
      for (int i = 0; i < 8; ++i) all += lanes[i];
      scales[row] = 1.0f / all;
    }
    __syncthreads();
  }
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void scaled(const float* e, const float* scales, float* __restrict__ out, long long rows, long long d) {
  cudaGridDependencySynchronize();
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float scale = scales[row];
    for (long long i = threadIdx.x; i < d; i += 256) out[row * d + i] = e[row * d + i] * scale;
  }
}
