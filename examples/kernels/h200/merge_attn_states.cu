// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// merge_attn_states as tuned on an H200 (benchmarks/results/2026-11-22-h200-serving-kernels.json): the template
// examples/kernels/merge_attn_states.cu with its tunables bound by shape.
/*hone
[[launch]]
kernel = "merge_attn_states_heads<true>"
grid   = ["ceil_div(tokens * heads, max(128 / (dim / 8), 1))"]
block  = ["dim / 8", "max(128 / (dim / 8), 1)"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "tokens * heads:u32"]
when   = "dim % 8 == 0 && dim > 0 && dim <= 8192 && tokens * heads * dim <= 1048576"

[[launch]]
kernel = "merge_attn_states_heads<false>"
grid   = ["ceil_div(tokens * heads, max(256 / (dim / 8), 1))"]
block  = ["dim / 8", "max(256 / (dim / 8), 1)"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "tokens * heads:u32"]
when   = "dim % 8 == 0 && dim > 0 && dim <= 8192 && tokens * heads * (dim / 8) < 2147483648 && tokens * heads * dim <= 3145728"

[[launch]]
kernel = "merge_attn_states_heads<false>"
grid   = ["ceil_div(tokens * heads, max(768 / (dim / 8), 1))"]
block  = ["dim / 8", "max(768 / (dim / 8), 1)"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "tokens * heads:u32"]
when   = "dim % 8 == 0 && dim > 0 && dim <= 8192 && tokens * heads * (dim / 8) < 2147483648"

[[launch]]
kernel = "merge_attn_states_elements"
grid   = ["ceil_div(tokens * heads * max(dim, 1), 256)"]
block  = ["256"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "tokens * heads:i64", "dim:i64"]
*/
#include <cuda_fp16.h>

namespace {

struct Weights {
  float a, b;
  float log_sum;
};

// Of one head of one token. Two empty parts weigh 0 each.
__device__ __forceinline__ Weights WeightsOf(float s_a, float s_b) {
  const float largest = fmaxf(s_a, s_b);
  if (largest == -INFINITY) return {0.0f, 0.0f, largest};
  const float ratio = __expf(-fabsf(s_b - s_a));  // of the smaller part to the larger
  const float larger = __fdividef(1.0f, 1.0f + ratio), smaller = ratio * larger;
  const bool b_larger = s_b > s_a;
  return {b_larger ? smaller : larger, b_larger ? larger : smaller, largest + __logf(1.0f + ratio)};
}

template <bool kStream>
__device__ __forceinline__ uint4 Load(const __half* p, unsigned vector) {
  const uint4* from = reinterpret_cast<const uint4*>(p) + vector;
  return kStream ? __ldcs(from) : __ldg(from);
}

}  // namespace

// v [heads in all, blockDim.x] of vectors of eight float16, fewer than 2^31 of them.
template <bool kStream>
__global__ void merge_attn_states_heads(const __half* __restrict__ v_a, const float* __restrict__ s_a,
                                        const __half* __restrict__ v_b, const float* __restrict__ s_b,
                                        __half* __restrict__ v_out, float* __restrict__ s_out, unsigned heads) {
  const unsigned head = blockIdx.x * blockDim.y + threadIdx.y;
  if (head >= heads) return;
  const unsigned at = head * blockDim.x + threadIdx.x;
  const float score_a = __ldg(s_a + head), score_b = __ldg(s_b + head);
  const uint4 a = Load<kStream>(v_a, at), b = Load<kStream>(v_b, at);
  const Weights weights = WeightsOf(score_a, score_b);
  const __half2* p = reinterpret_cast<const __half2*>(&a);
  const __half2* q = reinterpret_cast<const __half2*>(&b);
  uint4 packed;
  __half2* result = reinterpret_cast<__half2*>(&packed);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 x = __half22float2(p[j]), y = __half22float2(q[j]);
    result[j] = __floats2half2_rn(weights.a * x.x + weights.b * y.x, weights.a * x.y + weights.b * y.y);
  }
  uint4* to = reinterpret_cast<uint4*>(v_out) + at;
  if (kStream) {
    __stcs(to, packed);
  } else {
    *to = packed;
  }
  if (threadIdx.x == 0) s_out[head] = weights.log_sum;
}

// Any width; a head of width 0 has one thread all the same, for s_out.
__global__ void merge_attn_states_elements(const __half* __restrict__ v_a, const float* __restrict__ s_a,
                                           const __half* __restrict__ v_b, const float* __restrict__ s_b,
                                           __half* __restrict__ v_out, float* __restrict__ s_out, long long heads,
                                           long long dim) {
  const long long per_head = dim > 0 ? dim : 1;
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= heads * per_head) return;
  const long long head = at / per_head;
  const Weights weights = WeightsOf(s_a[head], s_b[head]);
  if (at % per_head == 0) s_out[head] = weights.log_sum;
  if (dim == 0) return;
  v_out[at] = __float2half_rn(weights.a * __half2float(v_a[at]) + weights.b * __half2float(v_b[at]));
}
