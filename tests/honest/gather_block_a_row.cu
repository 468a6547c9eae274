// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One block per row, which first loads the indexes into shared memory.
//
// task: gather_mean
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "gather"
grid   = ["num_dst"]
block  = ["64"]
shared = "fanout * 4"
args   = ["x", "index", "out", "num_dst:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_fp16.h>

__global__ void gather(const __half* x, const int* index, __half* out, long long num_dst, int fanout, long long dim) {
  extern __shared__ int neighbors[];
  for (int j = threadIdx.x; j < fanout; j += 64) neighbors[j] = index[blockIdx.x * static_cast<long long>(fanout) + j];
  __syncthreads();
  const float scale = fanout > 0 ? 1.0f / static_cast<float>(fanout) : 0.0f;
  for (long long i = threadIdx.x; i < dim; i += 64) {
    float sum = 0.0f;
    for (int j = 0; j < fanout; ++j) sum += __half2float(x[neighbors[j] * dim + i]);
    out[blockIdx.x * dim + i] = __float2half_rn(sum * scale);
  }
}
