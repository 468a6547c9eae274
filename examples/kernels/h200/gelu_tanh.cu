// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/gelu_tanh.cu with the bindings that were fastest on an H200, by shape.
//
// gelu_tanh with EACH float4 a thread, all loads before the first use. 0.5 (1 + tanh u) is written as
// 1 / (1 + exp(-2u)): one exponential and one reciprocal where tanhf takes two branches.
/*hone
[tune]
BLOCK = [256, 512]
EACH = [1]
HINT = [2]

[[launch]]
kernel = "gelu_tanh<EACH, HINT>"
grid   = ["ceil_div(ceil_div(rows * d, 4), BLOCK * EACH)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows * d:i64"]
when   = "rows * d <= 4194304"
with   = { BLOCK = 512, EACH = 1, HINT = 0 }

[[launch]]
kernel = "gelu_tanh<EACH, HINT>"
grid   = ["ceil_div(ceil_div(rows * d, 4), BLOCK * EACH)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows * d:i64"]
*/

namespace {

__device__ __forceinline__ float Gelu(float x) {
  const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
  return __fdividef(x, 1.0f + __expf(-2.0f * u));
}

// HINT 1: loads and stores are the first to leave the caches. HINT 2: what is loaded is the last to leave L2, which then gives
// what is stored to memory sooner.
template <int kHint, typename Vector>
__device__ __forceinline__ Vector Load(const Vector* from) {
  if constexpr (kHint == 1) {
    return __ldcs(from);
  } else if constexpr (kHint == 2 && sizeof(Vector) == 16) {
    Vector v;
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from), "l"(policy));
    return v;
  } else {
    return *from;
  }
}
template <int kHint, typename Vector>
__device__ __forceinline__ void Store(Vector* to, Vector value) {
  if constexpr (kHint == 1) {
    __stcs(to, value);
  } else {
    *to = value;
  }
}

}  // namespace

// x, out: `elements` floats. The last one to three elements go to the thread after the last full load.
template <int kEach, int kHint>
__global__ void gelu_tanh(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const float4* from = reinterpret_cast<const float4*>(x);
  float4* to = reinterpret_cast<float4*>(out);
  const long long packs = elements / 4;
  const long long first = static_cast<long long>(blockIdx.x) * (blockDim.x * kEach) + threadIdx.x;
  float4 v[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const long long at = first + i * static_cast<int>(blockDim.x);
    if (at < packs) v[i] = Load<kHint>(from + at);
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const long long at = first + i * static_cast<int>(blockDim.x);
    if (at < packs) {
      const float4 result = make_float4(Gelu(v[i].x), Gelu(v[i].y), Gelu(v[i].z), Gelu(v[i].w));
      Store<kHint>(to + at, result);
    } else if (at == packs) {
      for (long long j = packs * 4; j < elements; ++j) out[j] = Gelu(x[j]);
    }
  }
}
