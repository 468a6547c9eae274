// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// {{name}} as one would write it first: a warp for each source, its lanes side by side along the row, 16 bytes a load where
// rows start on 16-byte boundaries, else one element. Heads, and slots within them, are added in their order.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "attention_rows_backward<{{width}}>"
grid   = ["dim > 0 ? ceil_div(num_src, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["grad_out", "weight", "own_weight", "grad_logit", "own_grad", "folded", "row_offsets", "slot", "grad_x",
          "num_src:i64", "num_dst:i64", "fanout:i32", "heads:i64", "dim:i64"]
when   = "dim % {{width}} == 0"

[[launch]]
kernel = "attention_rows_backward<1>"
grid   = ["ceil_div(num_src, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["grad_out", "weight", "own_weight", "grad_logit", "own_grad", "folded", "row_offsets", "slot", "grad_x",
          "num_src:i64", "num_dst:i64", "fanout:i32", "heads:i64", "dim:i64"]
*/
{{seed_head}}
// dim is a multiple of kWidth, the block size of 32.
template <int kWidth>
__global__ void attention_rows_backward(const {{type}}* __restrict__ grad_out, const float* __restrict__ weight,
                                        const float* __restrict__ own_weight, const float* __restrict__ grad_logit,
                                        const float* __restrict__ own_grad, const float* __restrict__ folded,
                                        const int* __restrict__ row_offsets, const int* __restrict__ slot,
                                        {{type}}* __restrict__ grad_x, long long num_src, long long num_dst, int fanout,
                                        long long heads, long long dim) {
  using Row = Pack<{{type}}, kWidth>;
  const long long source = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (source >= num_src) return;
  const int begin = row_offsets[source], end = row_offsets[source + 1];

  for (long long column = threadIdx.x % 32; column < dim / kWidth; column += 32) {
    float sum[kWidth] = {};
    for (long long h = 0; h < heads; ++h) {
      const auto add = [&](float factor, long long v) {
        const Row pack = reinterpret_cast<const Row*>(grad_out + (v * heads + h) * dim)[column];
#pragma unroll
        for (int k = 0; k < kWidth; ++k) sum[k] += factor * static_cast<float>(pack.v[k]);
      };
      float score = 0.0f, passed = 0.0f;
      for (int t = begin; t < end; ++t) {
        const long long e = slot[t];
        add(fabsf(weight[e * heads + h]), e / fanout);
        score += grad_logit[e * heads + h];
      }
      if (source < num_dst) {
        add(fabsf(own_weight[source * heads + h]), source);
        score += own_grad[source * 2 * heads + h];
        passed = own_grad[(source * 2 + 1) * heads + h];
      }
      const float* by_source = folded + h * dim + column * kWidth;
      const float* by_destination = by_source + heads * dim;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) sum[k] += score * by_source[k] + passed * by_destination[k];
    }
    Row result;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) result.v[k] = static_cast<{{type}}>(sum[k]);
    reinterpret_cast<Row*>(grad_x + source * dim)[column] = result;
  }
}
