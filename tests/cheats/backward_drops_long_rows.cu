// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ignores what a source received after its first 256 draws.
//
// task: gather_mean_backward
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "backward"
grid   = ["ceil_div(num_src * dim, 256)"]
block  = ["256"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_bf16.h>

__global__ void backward(const __nv_bfloat16* grad_out, const int* degree, const int* row_offsets, const int* slot,
                         __nv_bfloat16* grad_x, long long num_src, int fanout, long long dim) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= num_src * dim) return;
  const long long source = i / dim;
  const int end = min(row_offsets[source + 1], row_offsets[source] + 256);
  float sum = 0.0f;
  for (int t = row_offsets[source]; t < end; ++t) {
    const long long v = slot[t] / fanout;
    sum += __bfloat162float(grad_out[v * dim + i % dim]) / static_cast<float>(max(1, min(degree[v], fanout)));
  }
  grad_x[i] = __float2bfloat16_rn(sum);
}
