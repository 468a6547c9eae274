// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// {{name}} as one would write it first: a warp for each destination. Its lanes lie side by side along the rows for the
// products, 16 bytes a load where rows start on 16-byte boundaries, else one element, and take an item each for the end.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "attention_backward<{{width}}>"
grid   = ["heads > 0 ? ceil_div(num_dst, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["x", "grad_out", "weight", "self", "index", "degree", "grad_logit", "num_dst:i64", "fanout:i32", "heads:i64",
          "dim:i64", "negative_slope:f32"]
when   = "dim % {{width}} == 0"

[[launch]]
kernel = "attention_backward<1>"
grid   = ["heads > 0 ? ceil_div(num_dst, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["x", "grad_out", "weight", "self", "index", "degree", "grad_logit", "num_dst:i64", "fanout:i32", "heads:i64",
          "dim:i64", "negative_slope:f32"]
*/
{{seed_head}}
// dim is a multiple of kWidth, the block size of 32.
template <int kWidth>
__global__ void attention_backward(const {{type}}* __restrict__ x, const {{type}}* __restrict__ grad_out,
                                   const float* __restrict__ weight, const int* __restrict__ self,
                                   const int* __restrict__ index, const int* __restrict__ degree, float* grad_logit,
                                   long long num_dst, int fanout, long long heads, long long dim,
                                   float negative_slope) {
  using Row = Pack<{{type}}, kWidth>;
  const long long vertex = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (vertex >= num_dst) return;
  const int lane = threadIdx.x % 32;
  const int own_row = self[vertex];
  const int items = 1 + min(degree[vertex], fanout);  // item 0 is the destination itself
  const auto row_of = [&](int item) { return item == 0 ? own_row : index[vertex * fanout + item - 1]; };
  const auto counts = [&](int item) { return item == 0 || (item < items && row_of(item) != own_row); };

  for (long long h = 0; h < heads; ++h) {
    const auto at = [&](int item) { return (vertex * (fanout + 1) + item) * heads + h; };
    const Row* grad = reinterpret_cast<const Row*>(grad_out + (vertex * heads + h) * dim);
    float expected = 0.0f;
    for (int item = 0; item < items; ++item) {
      if (!counts(item)) continue;
      const Row* row = reinterpret_cast<const Row*>(x + static_cast<long long>(row_of(item)) * dim);
      float dot = 0.0f;
      for (long long column = lane; column < dim / kWidth; column += 32) {
        const Row a = grad[column], b = row[column];
#pragma unroll
        for (int k = 0; k < kWidth; ++k) dot += static_cast<float>(a.v[k]) * static_cast<float>(b.v[k]);
      }
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, offset);
      if (item % 32 == lane) grad_logit[at(item)] = dot;  // this lane reads it again below
      expected += fabsf(weight[at(item)]) * dot;
    }
    for (int item = lane; item <= fanout; item += 32) {
      const float w = weight[at(item)];
      const float through = fabsf(w) * (w < 0.0f ? negative_slope : 1.0f);
      grad_logit[at(item)] = counts(item) ? through * (grad_logit[at(item)] - expected) : 0.0f;
    }
  }
}
