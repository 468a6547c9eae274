// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp a destination and head, one pass: a lane keeps a running maximum and rescales what it has when it grows.
// Columns go in bands of 128, four a lane.
//
// task: edge_softmax
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "attend"
grid   = ["num_dst * heads"]
block  = ["32"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i64",
          "dim:i64", "negative_slope:f32"]
*/
#include <cuda_fp16.h>

__global__ void attend(const __half* x, const float* score_src, const float* score_dst, const int* self,
                       const int* index, const int* degree, __half* out, long long num_dst, int fanout, long long heads,
                       long long dim, float negative_slope) {
  const long long row = blockIdx.x, v = row / heads, h = row % heads;
  const int own = self[v], items = min(degree[v], fanout);
  for (long long band = 0; band < dim; band += 128) {
    float top = -INFINITY, total = 0.0f, sum[4] = {};
    for (int item = 0; item <= items; ++item) {
      const long long u = item == 0 ? own : index[v * fanout + item - 1];
      if (item > 0 && u == own) continue;
      const float score = score_src[u * heads + h] + score_dst[row];
      const float logit = score > 0.0f ? score : negative_slope * score;
      const float higher = fmaxf(top, logit);
      const float keep = expf(top - higher), weight = expf(logit - higher);
      top = higher;
      total = total * keep + weight;
      for (int e = 0; e < 4; ++e) {
        const long long column = band + 32 * e + threadIdx.x;
        if (column < dim) sum[e] = sum[e] * keep + weight * __half2float(x[u * dim + column]);
      }
    }
    for (int e = 0; e < 4; ++e) {
      const long long column = band + 32 * e + threadIdx.x;
      if (column < dim) out[row * dim + column] = __float2half_rn(sum[e] / total);
    }
  }
}
