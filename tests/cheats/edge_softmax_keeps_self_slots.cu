// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Includes a drawn slot that is the destination itself, which is thus counted twice.
//
// task: edge_softmax
// expect: wrong_output
// where: sim gpu
/*hone
[[launch]]
kernel = "attend"
grid   = ["ceil_div(num_dst * heads * dim, 256)"]
block  = ["256"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i64",
          "dim:i64", "negative_slope:f32"]
*/
#include <cuda_fp16.h>

__global__ void attend(const __half* x, const float* score_src, const float* score_dst, const int* self,
                       const int* index, const int* degree, __half* out, long long num_dst, int fanout, long long heads,
                       long long dim, float negative_slope) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= num_dst * heads * dim) return;
  const long long row = i / dim, v = row / heads, h = row % heads;
  const int own = self[v], items = min(degree[v], fanout);
  const auto logit_of = [&](long long u) {
    const float sum = score_src[u * heads + h] + score_dst[row];
    return sum > 0.0f ? sum : negative_slope * sum;
  };
  float top = logit_of(own);
  for (int j = 0; j < items; ++j) {
    const int source = index[v * fanout + j];
    if (source >= 0) top = fmaxf(top, logit_of(source));
  }
  float total = 0.0f, sum = 0.0f;
  const auto take = [&](long long u) {
    const float logit = logit_of(u);
    const float weight = expf(logit - top);
    total += weight;
    sum += weight * __half2float(x[u * dim + i % dim]);
  };
  take(own);
  for (int j = 0; j < items; ++j) {
    const int source = index[v * fanout + j];
    if (source >= 0) take(source);
  }
  out[i] = __float2half_rn(sum / total);
}
