// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two bfloat16 a thread where rows hold whole pairs, slots from the last to the first, shares multiplied in pairs.
//
// task: gather_mean_backward
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "backward_pairs"
grid   = ["ceil_div(num_src * dim / 2, 128)"]
block  = ["128"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
when   = "dim % 2 == 0"

[[launch]]
kernel = "backward"
grid   = ["ceil_div(num_src * dim, 256)"]
block  = ["256"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_bf16.h>

__global__ void backward_pairs(const __nv_bfloat16* grad_out, const int* degree, const int* row_offsets,
                               const int* slot, __nv_bfloat16* grad_x, long long num_src, int fanout, long long dim) {
  const long long i = blockIdx.x * 128LL + threadIdx.x, pairs = dim / 2;
  if (i >= num_src * pairs) return;
  const long long source = i / pairs;
  float2 sum = make_float2(0.0f, 0.0f);
  for (int t = row_offsets[source + 1] - 1; t >= row_offsets[source]; --t) {
    const long long v = slot[t] / fanout;
    const float share = 1.0f / static_cast<float>(max(1, min(degree[v], fanout)));
    const float2 pair = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(grad_out)[v * pairs + i % pairs]);
    sum.x = fmaf(share, pair.x, sum.x);
    sum.y = fmaf(share, pair.y, sum.y);
  }
  reinterpret_cast<__nv_bfloat162*>(grad_x)[i] = __floats2bfloat162_rn(sum.x, sum.y);
}

__global__ void backward(const __nv_bfloat16* grad_out, const int* degree, const int* row_offsets, const int* slot,
                         __nv_bfloat16* grad_x, long long num_src, int fanout, long long dim) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= num_src * dim) return;
  const long long source = i / dim;
  const int end = row_offsets[source + 1];
  float sum = 0.0f;
  for (int t = row_offsets[source]; t < end; ++t) {
    const long long v = slot[t] / fanout;
    sum += __bfloat162float(grad_out[v * dim + i % dim]) / static_cast<float>(max(1, min(degree[v], fanout)));
  }
  grad_x[i] = __float2bfloat16_rn(sum);
}
