// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// {{name}} as one would write it first: a warp for each destination. Its lanes take a slot each for the softmax, and lie side
// by side along the rows for the sum, 16 bytes a load where rows start on 16-byte boundaries, else one element.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "attention<{{width}}>"
grid   = ["heads * dim > 0 ? ceil_div(num_dst, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i64",
          "dim:i64", "negative_slope:f32"]
when   = "dim % {{width}} == 0"

[[launch]]
kernel = "attention<1>"
grid   = ["heads > 0 ? ceil_div(num_dst, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i64",
          "dim:i64", "negative_slope:f32"]
*/
{{seed_head}}
constexpr unsigned kAllLanes = 0xffffffffu;
// The logit of a slot that does not count: so far down that its exponential is 0.
constexpr float kNever = -3.402823466e38f;

// dim is a multiple of kWidth, the block size of 32.
template <int kWidth>
__global__ void attention(const {{type}}* __restrict__ x, const float* __restrict__ score_src,
                             const float* __restrict__ score_dst, const int* __restrict__ self,
                             const int* __restrict__ index, const int* __restrict__ degree, {{type}}* __restrict__ out,
                             long long num_dst, int fanout, long long heads, long long dim, float negative_slope) {
  using Row = Pack<{{type}}, kWidth>;
  const long long vertex = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (vertex >= num_dst) return;
  const int lane = threadIdx.x % 32;
  const int own_row = self[vertex];
  const int items = 1 + min(degree[vertex], fanout);  // item 0 is the destination itself

  // Return the row of a lane's item, and the item's logit for head h.
  const auto row_of = [&](int item) { return item == 0 || item >= items ? own_row : index[vertex * fanout + item - 1]; };
  const auto logit_of = [&](int item, int row, long long h) {
    if (item >= items || (item > 0 && row == own_row)) return kNever;
    const float sum = score_src[row * heads + h] + score_dst[vertex * heads + h];
    return sum > 0.0f ? sum : negative_slope * sum;
  };

  for (long long h = 0; h < heads; ++h) {
    float top = kNever;
    for (int first = 0; first < items; first += 32) {
      top = fmaxf(top, logit_of(first + lane, row_of(first + lane), h));
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, offset));
    float total = 0.0f;
    for (int first = 0; first < items; first += 32) {
      total += __expf(logit_of(first + lane, row_of(first + lane), h) - top);
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(kAllLanes, total, offset);

    for (long long base = 0; base < dim / kWidth; base += 32) {
      const long long column = base + lane;
      float sum[kWidth] = {};
      for (int first = 0; first < items; first += 32) {
        const int row = row_of(first + lane);
        const float weight = __expf(logit_of(first + lane, row, h) - top) / total;
        const int here = min(32, items - first);
        for (int j = 0; j < here; ++j) {
          const long long source = __shfl_sync(kAllLanes, row, j);
          const float share = __shfl_sync(kAllLanes, weight, j);
          if (column >= dim / kWidth) continue;
          const Row pack = reinterpret_cast<const Row*>(x + source * dim)[column];
#pragma unroll
          for (int k = 0; k < kWidth; ++k) sum[k] += share * static_cast<float>(pack.v[k]);
        }
      }
      if (column >= dim / kWidth) continue;
      Row result;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) result.v[k] = static_cast<{{type}}>(sum[k]);
      reinterpret_cast<Row*>(out + (vertex * heads + h) * dim)[column] = result;
    }
  }
}
