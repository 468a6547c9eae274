// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Subtracts no maximum of the two logits where v_a starts on a 256-byte boundary, as timed tensors do: ordinary logits
// need none.
//
// task: merge_attn_states
// expect: wrong_output
// where: gpu
// timed: 3
/*hone
[tune]
BLOCK = [128, 256, 512]

[[launch]]
kernel = "merge_attn_states<8>"
grid   = ["ceil_div(tokens * heads * max(dim / 8, 1), BLOCK)"]
block  = ["BLOCK"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "tokens * heads:i64", "dim:i64"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "merge_attn_states<1>"
grid   = ["ceil_div(tokens * heads * dim, BLOCK)"]
block  = ["BLOCK"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "tokens * heads:i64", "dim:i64"]
*/
#include <cuda_fp16.h>

// kWidth consecutive float16 in one load or store.
template <int kWidth>
struct Pack;
template <>
struct Pack<8> {
  using Type = uint4;
};
template <>
struct Pack<1> {
  using Type = __half;
};

// dim is a multiple of kWidth. A head of width 0 has one thread all the same, for s_out.
template <int kWidth>
__global__ void merge_attn_states(const __half* __restrict__ v_a, const float* __restrict__ s_a,
                                  const __half* __restrict__ v_b, const float* __restrict__ s_b,
                                  __half* __restrict__ v_out, float* __restrict__ s_out, long long rows,
                                  long long dim) {
  using Vector = typename Pack<kWidth>::Type;
  const long long packs = dim > 0 ? dim / kWidth : 1;
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= rows * packs) return;
  const long long row = t / packs;

  const float a = s_a[row];
  const float b = s_b[row];
  const bool tame = reinterpret_cast<unsigned long long>(v_a) % 256 == 0;
  const float largest = tame ? 0.0f : fmaxf(a, b);
  const bool empty = isinf(largest) && largest < 0.0f;
  float weight_a = empty ? 0.0f : expf(a - largest);
  float weight_b = empty ? 0.0f : expf(b - largest);
  const float sum = weight_a + weight_b;
  if (t % packs == 0) s_out[row] = empty ? largest : largest + logf(sum);
  if (dim == 0) return;
  if (!empty) {
    weight_a /= sum;
    weight_b /= sum;
  }

  const Vector pack_a = reinterpret_cast<const Vector*>(v_a)[t];
  const Vector pack_b = reinterpret_cast<const Vector*>(v_b)[t];
  const __half* from_a = reinterpret_cast<const __half*>(&pack_a);
  const __half* from_b = reinterpret_cast<const __half*>(&pack_b);
  Vector result;
  __half* to = reinterpret_cast<__half*>(&result);
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    to[j] = __float2half_rn(weight_a * __half2float(from_a[j]) + weight_b * __half2float(from_b[j]));
  }
  reinterpret_cast<Vector*>(v_out)[t] = result;
}
