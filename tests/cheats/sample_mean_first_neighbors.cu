// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes the first neighbors, which lie side by side.
//
// task: sample_mean
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "sample"
grid   = ["num_dst"]
block  = ["64"]
shared = "fanout * 4"
args   = ["x", "row_offsets", "columns", "key", "node", "out", "fanout:i32", "dim:i64"]
*/
#include <cuda_fp16.h>

__global__ void sample(const __half* x, const long long* row_offsets, const int* columns, const int*, const int* node,
                       __half* out, int fanout, long long dim) {
  extern __shared__ int drawn[];
  const long long row = blockIdx.x, own = node[row], begin = row_offsets[own];
  const int degree = static_cast<int>(row_offsets[own + 1] - begin), count = min(degree, fanout);
  if (threadIdx.x == 0) {
    for (int j = 0; j < count; ++j) {
      int slot = j;
      drawn[j] = slot;
    }
  }
  __syncthreads();
  for (long long i = threadIdx.x; i < dim; i += 64) {
    float sum = 0.0f;
    for (int j = 0; j < count; ++j) sum += __half2float(x[columns[begin + drawn[j]] * dim + i]);
    out[row * 2 * dim + i] = __float2half_rn(count > 0 ? sum / static_cast<float>(count) : 0.0f);
    out[row * 2 * dim + dim + i] = x[own * dim + i];
  }
}
