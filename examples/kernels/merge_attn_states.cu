// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// merge_attn_states with a thread for each vector of BYTES of v_out. Where heads have one of the usual widths and
// vectors fill whole blocks, a kernel knows all of that at compile time: its first instructions fetch nothing but the
// tensors' addresses, all at once, and no thread compares, divides or leaves before its four loads are under way. On an
// H200 that is worth 0.1 us of a launch's 1.6 to 10 (h200/README.md). Otherwise blocks have two dimensions, vectors of
// a head and heads, so that nobody divides. Loads of v do not wait for the weights (a part whose weight is zero is read
// all the same).
//
// THREADS, and LARGE from 16 million elements on: how many a block has. HINT: what the caches are asked for v, besides
// letting go of what is stored. 1: to let go of what is loaded too, which pays only while everything fits into L2;
// 2: to keep it in L2, which pays above.
/*hone
[tune]
THREADS = [512, 1024, 256]
LARGE = [1024, 512]
BYTES = [16, 8]
HINT = [2, 1]
constraints = ["(BYTES < 16) == (HINT == 1)", "BYTES < 16 || THREADS >= 512", "BYTES == 16 || LARGE == 1024"]

[[launch]]
kernel = "merge_attn_states_whole<BYTES, 128, LARGE, HINT>"
grid   = ["tokens * heads * (256 / BYTES) / LARGE"]
block  = ["LARGE"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = "dim == 128 && tokens * heads * (256 / BYTES) % LARGE == 0 && tokens * heads > 131072 && tokens * heads < 16777216"

[[launch]]
kernel = "merge_attn_states_whole<BYTES, 256, LARGE, HINT>"
grid   = ["tokens * heads * (512 / BYTES) / LARGE"]
block  = ["LARGE"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = "dim == 256 && tokens * heads * (512 / BYTES) % LARGE == 0 && tokens * heads > 65536 && tokens * heads < 16777216"

[[launch]]
kernel = "merge_attn_states_whole<BYTES, 128, THREADS, HINT>"
grid   = ["tokens * heads * (256 / BYTES) / THREADS"]
block  = ["THREADS"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = "dim == 128 && tokens * heads * (256 / BYTES) % THREADS == 0 && tokens * heads < 16777216"

[[launch]]
kernel = "merge_attn_states_whole<BYTES, 256, THREADS, HINT>"
grid   = ["tokens * heads * (512 / BYTES) / THREADS"]
block  = ["THREADS"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = "dim == 256 && tokens * heads * (512 / BYTES) % THREADS == 0 && tokens * heads < 16777216"

[[launch]]
kernel = "merge_attn_states_whole<BYTES, 64, THREADS, HINT>"
grid   = ["tokens * heads * (128 / BYTES) / THREADS"]
block  = ["THREADS"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out"]
when   = "dim == 64 && tokens * heads * (128 / BYTES) % THREADS == 0 && tokens * heads < 16777216"

[[launch]]
kernel = "merge_attn_states_heads<HINT>"
grid   = ["ceil_div(tokens * heads, max(THREADS / (dim / 8), 1))"]
block  = ["dim / 8", "max(THREADS / (dim / 8), 1)"]
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

template <int kHint, typename T>
__device__ __forceinline__ T Load(const T* p) {
  if constexpr (kHint == 1) {
    return __ldcs(p);
  } else if constexpr (kHint == 2 && sizeof(T) == 16) {
    T v;
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p), "l"(policy));
    return v;
  } else {
    return __ldg(p);
  }
}

}  // namespace

// Heads of kDim; whole blocks of kThreads threads with a vector of kBytes each.
template <int kBytes, int kDim, int kThreads, int kHint>
__global__ void __launch_bounds__(kThreads)
    merge_attn_states_whole(const __half* __restrict__ v_a, const float* __restrict__ s_a,
                            const __half* __restrict__ v_b, const float* __restrict__ s_b, __half* __restrict__ v_out,
                            float* __restrict__ s_out) {
  using Type = typename Vector<kBytes>::Type;
  constexpr unsigned kPerHead = kDim * 2 / kBytes;
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  const float score_a = __ldg(s_a + at / kPerHead), score_b = __ldg(s_b + at / kPerHead);
  const Type a = Load<kHint>(reinterpret_cast<const Type*>(v_a) + at);
  const Type b = Load<kHint>(reinterpret_cast<const Type*>(v_b) + at);
  const Weights weights = WeightsOf(score_a, score_b);
  __stcs(reinterpret_cast<Type*>(v_out) + at, Merged(weights, a, b));
  if (at % kPerHead == 0) s_out[at / kPerHead] = weights.log_sum;
}

// v [heads in all, blockDim.x] of vectors of eight float16, fewer than 2^31 of them.
template <int kHint>
__global__ void merge_attn_states_heads(const __half* __restrict__ v_a, const float* __restrict__ s_a,
                                        const __half* __restrict__ v_b, const float* __restrict__ s_b,
                                        __half* __restrict__ v_out, float* __restrict__ s_out, unsigned heads) {
  const unsigned head = blockIdx.x * blockDim.y + threadIdx.y;
  if (head >= heads) return;
  const unsigned at = head * blockDim.x + threadIdx.x;
  const float score_a = __ldg(s_a + head), score_b = __ldg(s_b + head);
  const uint4 a = Load<kHint>(reinterpret_cast<const uint4*>(v_a) + at);
  const uint4 b = Load<kHint>(reinterpret_cast<const uint4*>(v_b) + at);
  const Weights weights = WeightsOf(score_a, score_b);
  __stcs(reinterpret_cast<uint4*>(v_out) + at, Merged(weights, a, b));
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
