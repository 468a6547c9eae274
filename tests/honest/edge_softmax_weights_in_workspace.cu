// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two kernels: normalised weights of every slot into a workspace, then a block a destination that uses them for all
// heads.
//
// task: edge_softmax
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name = "weights"
bytes = "num_dst * heads * (fanout + 1) * 4"

[[launch]]
kernel = "normalise"
grid   = ["ceil_div(num_dst * heads, 128)"]
block  = ["128"]
args   = ["score_src", "score_dst", "self", "index", "degree", "weights", "num_dst * heads:i64", "fanout:i32",
"heads:i64", "negative_slope:f32"]

[[launch]]
step   = 1
kernel = "combine"
grid   = ["num_dst"]
block  = ["64"]
args   = ["x", "self", "index", "degree", "weights", "out", "fanout:i32", "heads:i64", "dim:i64"]
*/
#include <cuda_fp16.h>

// Weight 0 is the destination's own; slots that do not count get 0.
__global__ void normalise(const float* score_src, const float* score_dst, const int* self, const int* index,
                          const int* degree, float* weights, long long rows, int fanout, long long heads,
                          float negative_slope) {
  const long long row = blockIdx.x * 128LL + threadIdx.x;
  if (row >= rows) return;
  const long long v = row / heads;
  const int own = self[v], items = min(degree[v], fanout);
  float* mine = weights + row * (fanout + 1);
  float top = -INFINITY;
  for (int item = 0; item <= items; ++item) {
    const long long u = item == 0 ? own : index[v * fanout + item - 1];
    const float score = score_src[u * heads + row % heads] + score_dst[row];
    mine[item] = item > 0 && u == own ? -INFINITY : fmaxf(score, 0.0f) + negative_slope * fminf(score, 0.0f);
    top = fmaxf(top, mine[item]);
  }
  float total = 0.0f;
  for (int item = 0; item <= items; ++item) total += mine[item] = expf(mine[item] - top);
  for (int item = 0; item <= items; ++item) mine[item] /= total;
}

__global__ void combine(const __half* x, const int* self, const int* index, const int* degree, const float* weights,
                        __half* out, int fanout, long long heads, long long dim) {
  const long long v = blockIdx.x;
  const int items = min(degree[v], fanout);
  for (long long i = threadIdx.x; i < heads * dim; i += 64) {
    const float* mine = weights + (v * heads + i / dim) * (fanout + 1);
    float sum = mine[0] * __half2float(x[self[v] * dim + i % dim]);
    for (int j = items; j > 0; --j) sum += mine[j] * __half2float(x[index[v * fanout + j - 1] * dim + i % dim]);
    out[v * heads * dim + i] = __float2half_rn(sum);
  }
}
