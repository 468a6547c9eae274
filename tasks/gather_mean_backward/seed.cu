// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// gather_mean_backward as one would write it first: a warp for each source, its lanes side by side along the row, eight
// bfloat16 a load where rows start on 16-byte boundaries, else one. Slots are added in their order.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "gather_mean_backward<8>"
grid   = ["dim > 0 ? ceil_div(num_src, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "gather_mean_backward<1>"
grid   = ["ceil_div(num_src, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_bf16.h>

// kWidth consecutive bfloat16 in one load or store.
template <int kWidth>
struct Pack;
template <>
struct Pack<8> {
  using Type = uint4;
};
template <>
struct Pack<1> {
  using Type = __nv_bfloat16;
};

// dim is a multiple of kWidth, the block size of 32.
template <int kWidth>
__global__ void gather_mean_backward(const __nv_bfloat16* __restrict__ grad_out, const int* __restrict__ degree,
                                     const int* __restrict__ row_offsets, const int* __restrict__ slot,
                                     __nv_bfloat16* __restrict__ grad_x, long long num_src, int fanout, long long dim) {
  using Vector = typename Pack<kWidth>::Type;
  const long long source = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (source >= num_src) return;
  const int begin = row_offsets[source], end = row_offsets[source + 1];

  for (long long column = threadIdx.x % 32; column < dim / kWidth; column += 32) {
    float sum[kWidth] = {};
    for (int t = begin; t < end; ++t) {
      const long long vertex = slot[t] / fanout;
      const float share = 1.0f / static_cast<float>(max(1, min(degree[vertex], fanout)));
      const Vector pack = reinterpret_cast<const Vector*>(grad_out + vertex * dim)[column];
      const __nv_bfloat16* v = reinterpret_cast<const __nv_bfloat16*>(&pack);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) sum[k] += share * __bfloat162float(v[k]);
    }
    Vector result;
    __nv_bfloat16* r = reinterpret_cast<__nv_bfloat16*>(&result);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) r[k] = __float2bfloat16_rn(sum[k]);
    reinterpret_cast<Vector*>(grad_x + source * dim)[column] = result;
  }
}
