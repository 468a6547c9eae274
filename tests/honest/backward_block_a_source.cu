// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One block per source. Each of its warps takes every fourth slot, and they add their sums in shared memory, so that a source
// drawn thousands of times is not one long chain.
//
// task: gather_mean_backward
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "backward"
grid   = ["num_src"]
block  = ["32", "4"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_bf16.h>

__global__ void backward(const __nv_bfloat16* grad_out, const int* degree, const int* row_offsets, const int* slot,
                         __nv_bfloat16* grad_x, long long num_src, int fanout, long long dim) {
  __shared__ float parts[4][32];
  const long long source = blockIdx.x;
  for (long long first = 0; first < dim; first += 32) {
    const long long column = first + threadIdx.x;
    float sum = 0.0f;
    for (int t = row_offsets[source] + threadIdx.y; t < row_offsets[source + 1]; t += 4) {
      const long long v = slot[t] / fanout;
      const float drawn = static_cast<float>(max(1, min(degree[v], fanout)));
      if (column < dim) sum += __bfloat162float(grad_out[v * dim + column]) / drawn;
    }
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < dim) {
      const int lane = threadIdx.x;
      grad_x[source * dim + column] =
          __float2bfloat16_rn((parts[0][lane] + parts[1][lane]) + (parts[2][lane] + parts[3][lane]));
    }
    __syncthreads();
  }
}
