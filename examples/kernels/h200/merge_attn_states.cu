// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// merge_attn_states as tuned on an H200 (benchmarks/results/2026-11-22-h200-serving-kernels.json): the template
// examples/kernels/merge_attn_states.cu with its tunables bound by shape.
/*hone
[[launch]]
kernel = "merge_attn_states_whole<8, 128, 256, 1, true>"
grid   = ["tokens * heads * 32 / 256"]
block  = ["256"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = """dim == 128 && tokens * heads * 32 % 256 == 0 && tokens * heads < 16777216
           && tokens * heads * dim <= 1048576"""

[[launch]]
kernel = "merge_attn_states_whole<16, 128, 1024, 1, false>"
grid   = ["tokens * heads * 16 / 1024"]
block  = ["1024"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = """dim == 128 && tokens * heads * 16 % 1024 == 0 && tokens * heads < 16777216
           && tokens * heads * dim > 16777216"""

[[launch]]
kernel = "merge_attn_states_whole<16, 128, 256, 2, false>"
grid   = ["tokens * heads * 16 / 512"]
block  = ["256"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = """dim == 128 && tokens * heads * 16 % 512 == 0 && tokens * heads < 16777216
           && tokens * heads * dim <= 3145728"""

[[launch]]
kernel = "merge_attn_states_whole<16, 128, 512, 1, false>"
grid   = ["tokens * heads * 16 / 512"]
block  = ["512"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = "dim == 128 && tokens * heads * 16 % 512 == 0 && tokens * heads < 16777216"

[[launch]]
kernel = "merge_attn_states_whole<8, 256, 256, 1, true>"
grid   = ["tokens * heads * 64 / 256"]
block  = ["256"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = """dim == 256 && tokens * heads * 64 % 256 == 0 && tokens * heads < 16777216
           && tokens * heads * dim <= 1048576"""

[[launch]]
kernel = "merge_attn_states_whole<16, 256, 1024, 1, false>"
grid   = ["tokens * heads * 32 / 1024"]
block  = ["1024"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = """dim == 256 && tokens * heads * 32 % 1024 == 0 && tokens * heads < 16777216
           && tokens * heads * dim > 16777216"""

[[launch]]
kernel = "merge_attn_states_whole<16, 256, 256, 2, false>"
grid   = ["tokens * heads * 32 / 512"]
block  = ["256"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = """dim == 256 && tokens * heads * 32 % 512 == 0 && tokens * heads < 16777216
           && tokens * heads * dim <= 3145728"""

[[launch]]
kernel = "merge_attn_states_whole<16, 256, 512, 1, false>"
grid   = ["tokens * heads * 32 / 512"]
block  = ["512"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = "dim == 256 && tokens * heads * 32 % 512 == 0 && tokens * heads < 16777216"

[[launch]]
kernel = "merge_attn_states_heads<true>"
grid   = ["ceil_div(tokens * heads, max(128 / (dim / 8), 1))"]
block  = ["dim / 8", "max(128 / (dim / 8), 1)"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "tokens * heads:u32"]
when   = """dim % 8 == 0 && dim > 0 && dim <= 8192 && tokens * heads * (dim / 8) < 2147483648
           && tokens * heads * dim <= 1048576"""

[[launch]]
kernel = "merge_attn_states_heads<false>"
grid   = ["ceil_div(tokens * heads, max(256 / (dim / 8), 1))"]
block  = ["dim / 8", "max(256 / (dim / 8), 1)"]
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

// Of one head of one token. Each weight has an exponential of its own, so that neither waits for the other or for a
// comparison: 1 / (1 + 2^x) is right where 2^x is 0 or infinite too. Two empty parts weigh 0 each.
__device__ __forceinline__ Weights WeightsOf(float s_a, float s_b) {
  const float largest = fmaxf(s_a, s_b), difference = (s_b - s_a) * 1.4426950408889634f;
  float b_to_a, a_to_b, a, b, log2_sum;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(b_to_a) : "f"(difference));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(a_to_b) : "f"(-difference));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(a) : "f"(1.0f + b_to_a));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(1.0f + a_to_b));
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2_sum) : "f"(1.0f + fminf(b_to_a, a_to_b)));
  const bool empty = largest == -INFINITY;
  return {empty ? 0.0f : a, empty ? 0.0f : b, empty ? largest : largest + 0.6931471805599453f * log2_sum};
}

template <int kBytes>
struct Vector;
template <>
struct Vector<16> {
  using Type = uint4;
};
template <>
struct Vector<8> {
  using Type = uint2;
};

template <typename T>
__device__ __forceinline__ T Merged(const Weights& weights, const T& a, const T& b) {
  const __half2* p = reinterpret_cast<const __half2*>(&a);
  const __half2* q = reinterpret_cast<const __half2*>(&b);
  T packed;
  __half2* result = reinterpret_cast<__half2*>(&packed);
#pragma unroll
  for (int j = 0; j < static_cast<int>(sizeof(T) / sizeof(__half2)); ++j) {
    const float2 x = __half22float2(p[j]), y = __half22float2(q[j]);
    result[j] = __floats2half2_rn(weights.a * x.x + weights.b * y.x, weights.a * x.y + weights.b * y.y);
  }
  return packed;
}

template <bool kStream, typename T>
__device__ __forceinline__ T Load(const T* p) {
  return kStream ? __ldcs(p) : __ldg(p);
}

template <bool kStream, typename T>
__device__ __forceinline__ void Store(T* p, const T& value) {
  if (kStream) {
    __stcs(p, value);
  } else {
    *p = value;
  }
}

}  // namespace

// Heads of kDim; whole blocks of kThreads threads with kEach vectors of kBytes, kThreads apart.
template <int kBytes, int kDim, int kThreads, int kEach, bool kStream>
__global__ void __launch_bounds__(kThreads)
    merge_attn_states_whole(const __half* __restrict__ v_a, const float* __restrict__ s_a,
                            const __half* __restrict__ v_b, const float* __restrict__ s_b, __half* __restrict__ v_out,
                            float* __restrict__ s_out) {
  using Type = typename Vector<kBytes>::Type;
  constexpr unsigned kPerHead = kDim * 2 / kBytes;
  const unsigned first = blockIdx.x * (kThreads * kEach) + threadIdx.x;
  float score_a[kEach], score_b[kEach];
  Type a[kEach], b[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * kThreads;
    score_a[i] = __ldg(s_a + at / kPerHead);
    score_b[i] = __ldg(s_b + at / kPerHead);
    a[i] = Load<kStream>(reinterpret_cast<const Type*>(v_a) + at);
    b[i] = Load<kStream>(reinterpret_cast<const Type*>(v_b) + at);
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * kThreads;
    const Weights weights = WeightsOf(score_a[i], score_b[i]);
    Store<kStream>(reinterpret_cast<Type*>(v_out) + at, Merged(weights, a[i], b[i]));
    if (at % kPerHead == 0) s_out[at / kPerHead] = weights.log_sum;
  }
}

// v [heads in all, blockDim.x] of vectors of eight float16, fewer than 2^31 of them.
template <bool kStream>
__global__ void merge_attn_states_heads(const __half* __restrict__ v_a, const float* __restrict__ s_a,
                                        const __half* __restrict__ v_b, const float* __restrict__ s_b,
                                        __half* __restrict__ v_out, float* __restrict__ s_out, unsigned heads) {
  const unsigned head = blockIdx.x * blockDim.y + threadIdx.y;
  if (head >= heads) return;
  const unsigned at = head * blockDim.x + threadIdx.x;
  const float score_a = __ldg(s_a + head), score_b = __ldg(s_b + head);
  const uint4 a = Load<kStream>(reinterpret_cast<const uint4*>(v_a) + at);
  const uint4 b = Load<kStream>(reinterpret_cast<const uint4*>(v_b) + at);
  const Weights weights = WeightsOf(score_a, score_b);
  Store<kStream>(reinterpret_cast<uint4*>(v_out) + at, Merged(weights, a, b));
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
