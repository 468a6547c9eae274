// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// merge_attn_states with EACH 16-byte vectors of v_out a thread, their loads before the first use, and 32-bit indexes.
// The loads of v do not wait for the weights: a part whose weight is zero is read all the same.
/*hone
[tune]
BLOCK = [128, 256, 512]
EACH = [2, 1, 4]

[[launch]]
kernel = "merge_attn_states_vectors<EACH>"
grid   = ["ceil_div(tokens * heads * (dim / 8), BLOCK * EACH)"]
block  = ["BLOCK"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "tokens * heads * (dim / 8):u32", "dim / 8:u32"]
when   = "dim % 8 == 0 && dim > 0 && tokens * heads * (dim / 8) < 2147483648"

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
  if (isinf(largest) && largest < 0.0f) return {0.0f, 0.0f, largest};
  const float a = __expf(s_a - largest), b = __expf(s_b - largest);
  const float sum = a + b;
  const float inverse = __fdividef(1.0f, sum);
  return {a * inverse, b * inverse, largest + logf(sum)};
}

}  // namespace

// v [heads in all, per_head] of vectors of eight float16, `vectors` of them; per_head > 0.
template <int kEach>
__global__ void merge_attn_states_vectors(const __half* __restrict__ v_a, const float* __restrict__ s_a,
                                          const __half* __restrict__ v_b, const float* __restrict__ s_b,
                                          __half* __restrict__ v_out, float* __restrict__ s_out, unsigned vectors,
                                          unsigned per_head) {
  const uint4* from_a = reinterpret_cast<const uint4*>(v_a);
  const uint4* from_b = reinterpret_cast<const uint4*>(v_b);
  const unsigned first = blockIdx.x * (blockDim.x * kEach) + threadIdx.x;
  uint4 a[kEach], b[kEach];
  float score_a[kEach], score_b[kEach];
  unsigned head[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    head[i] = 0;
    if (at < vectors) {
      head[i] = at / per_head;
      a[i] = __ldcs(from_a + at);
      b[i] = __ldcs(from_b + at);
      score_a[i] = __ldg(s_a + head[i]);
      score_b[i] = __ldg(s_b + head[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < vectors) {
      const Weights weights = WeightsOf(score_a[i], score_b[i]);
      if (at == head[i] * per_head) s_out[head[i]] = weights.log_sum;
      const __half2* p = reinterpret_cast<const __half2*>(&a[i]);
      const __half2* q = reinterpret_cast<const __half2*>(&b[i]);
      uint4 packed;
      __half2* result = reinterpret_cast<__half2*>(&packed);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 x = __half22float2(p[j]), y = __half22float2(q[j]);
        result[j] = __floats2half2_rn(weights.a * x.x + weights.b * y.x, weights.a * x.y + weights.b * y.y);
      }
      __stcs(reinterpret_cast<uint4*>(v_out) + at, packed);
    }
  }
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
