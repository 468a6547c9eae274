// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// silu_and_mul. WHOLE 0: a 16-byte vector of gates and one of values a thread, all loads before the first use.
// Wide rows are cut into equal pieces of at most BLOCK vectors, a block each, so that only whole blocks have to
// know their row and few lanes idle; narrow rows are taken as one long array. WHOLE 1: one vector of BYTES of each a
// thread, where they fill whole blocks: no thread compares, divides or leaves before its loads are under way, which is
// worth 0.1 us of a launch (h200/README.md); a row is found by a multiplication with a reciprocal, exact under the
// plan's condition.
//
// BLOCK, and LARGE for whole blocks from 8 million results on: how many threads a block has. HINT: what the caches are
// asked. 1: to let go of all lines first, which pays only while everything fits into L2; 2: to keep in L2 what is
// loaded and let go of what is stored, which pays above; 3: to let go of what is stored.
/*hone
[tune]
BLOCK = [512, 1024, 256]
LARGE = [1024, 512]
HINT = [2, 1, 3, 0]
BYTES = [16, 8, 4]
WHOLE = [1, 0]
constraints = [
  "WHOLE == 1 && BYTES == 16 || LARGE == 1024",
  "WHOLE == 1 || BYTES == 16",
  "(BYTES < 16) == (HINT == 1)",
  "BYTES < 16 || BLOCK >= 512",
]

[[launch]]
kernel = "silu_and_mul_whole<BYTES, LARGE, HINT>"
grid   = ["tokens * (d / (BYTES / 2)) / LARGE"]
block  = ["LARGE"]
args   = ["x", "out", "d / (BYTES / 2):u32", "ceil_div(4294967296, d / (BYTES / 2)):u32"]
when   = """WHOLE == 1 && tokens * d > 8388608 && d % 8 == 0 && d >= 16 && tokens * (d / (BYTES / 2)) % LARGE == 0 && \
            tokens * (d / (BYTES / 2)) < 2147483648 && \
            tokens * (d / (BYTES / 2)) * (ceil_div(4294967296, d / (BYTES / 2)) * (d / (BYTES / 2)) - 4294967296) \
            < 4294967296"""

[[launch]]
kernel = "silu_and_mul_whole<BYTES, BLOCK, HINT>"
grid   = ["tokens * (d / (BYTES / 2)) / BLOCK"]
block  = ["BLOCK"]
args   = ["x", "out", "d / (BYTES / 2):u32", "ceil_div(4294967296, d / (BYTES / 2)):u32"]
when   = """WHOLE == 1 && d % 8 == 0 && d >= 16 && tokens * (d / (BYTES / 2)) % BLOCK == 0 && \
            tokens * (d / (BYTES / 2)) < 2147483648 && \
            tokens * (d / (BYTES / 2)) * (ceil_div(4294967296, d / (BYTES / 2)) * (d / (BYTES / 2)) - 4294967296) \
            < 4294967296"""

[[launch]]
kernel = "silu_and_mul_rows<HINT>"
grid   = ["tokens * ceil_div(d / 8, BLOCK)"]
block  = ["round_up(ceil_div(d / 8, ceil_div(d / 8, BLOCK)), 32)"]
args   = ["x", "out", "d / 8:u32", "ceil_div(d / 8, BLOCK):u32"]
when   = "d % 8 == 0 && d >= 2048 && d < 17179869184 && tokens * ceil_div(d / 8, BLOCK) <= 2147483647"

[[launch]]
kernel = "silu_and_mul_vectors<HINT>"
grid   = ["ceil_div(tokens * (d / 8), BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "tokens * (d / 8):u32", "d / 8:u32"]
when   = "d % 8 == 0 && tokens * d < 17179869184"

[[launch]]
kernel = "silu_and_mul_elements"
grid   = ["min(ceil_div(d, 256) * tokens, 2147483647)"]
block  = ["256"]
args   = ["x", "out", "tokens:i64", "d:i64"]
*/
#include <cuda_fp16.h>

namespace {

__device__ __forceinline__ float SiluAndMul(float gate, float value) {
  return __fdividef(gate, 1.0f + __expf(-gate)) * value;
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
template <>
struct Vector<4> {
  using Type = unsigned;
};

template <typename T>
__device__ __forceinline__ T SiluAndMul(const T& gates, const T& values) {
  const __half2* gate = reinterpret_cast<const __half2*>(&gates);
  const __half2* value = reinterpret_cast<const __half2*>(&values);
  T packed;
  __half2* result = reinterpret_cast<__half2*>(&packed);
#pragma unroll
  for (int j = 0; j < static_cast<int>(sizeof(T) / sizeof(__half2)); ++j) {
    const float2 g = __half22float2(gate[j]);
    const float2 v = __half22float2(value[j]);
    result[j] = __floats2half2_rn(SiluAndMul(g.x, v.x), SiluAndMul(g.y, v.y));
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

template <int kHint, typename T>
__device__ __forceinline__ void Store(T* p, const T& value) {
  if constexpr (kHint != 0) {
    __stcs(p, value);
  } else {
    *p = value;
  }
}

}  // namespace

// x [tokens, 2, per_row], out [tokens, per_row], of vectors of kBytes; whole blocks of kThreads of them. A vector's row
// is the upper half of its number times `reciprocal`, which is 2^32 / per_row, rounded up.
template <int kBytes, int kThreads, int kHint>
__global__ void __launch_bounds__(kThreads)
    silu_and_mul_whole(const __half* __restrict__ x, __half* __restrict__ out, unsigned per_row, unsigned reciprocal) {
  using Type = typename Vector<kBytes>::Type;
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  const unsigned row = __umulhi(at, reciprocal);
  const Type* gate = reinterpret_cast<const Type*>(x) + static_cast<size_t>(at) + static_cast<size_t>(row) * per_row;
  const Type gates = Load<kHint>(gate), values = Load<kHint>(gate + per_row);
  Store<kHint>(reinterpret_cast<Type*>(out) + at, SiluAndMul(gates, values));
}

// x [tokens, 2, per_row], out [tokens, per_row], of vectors of eight float16; `pieces` blocks a row.
template <int kHint>
__global__ void silu_and_mul_rows(const __half* __restrict__ x, __half* __restrict__ out, unsigned per_row,
                                  unsigned pieces) {
  const unsigned row = blockIdx.x / pieces, at = (blockIdx.x - row * pieces) * blockDim.x + threadIdx.x;
  if (at >= per_row) return;
  const uint4* gate = reinterpret_cast<const uint4*>(x) + static_cast<size_t>(row) * 2 * per_row + at;
  const uint4 gates = Load<kHint>(gate), values = Load<kHint>(gate + per_row);
  Store<kHint>(reinterpret_cast<uint4*>(out) + static_cast<size_t>(row) * per_row + at, SiluAndMul(gates, values));
}

// The same, `vectors` of them in all.
template <int kHint>
__global__ void silu_and_mul_vectors(const __half* __restrict__ x, __half* __restrict__ out, unsigned vectors,
                                     unsigned per_row) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= vectors) return;
  const unsigned row = at / per_row;
  const uint4* gate = reinterpret_cast<const uint4*>(x) + static_cast<size_t>(at) + static_cast<size_t>(row) * per_row;
  const uint4 gates = Load<kHint>(gate), values = Load<kHint>(gate + per_row);
  Store<kHint>(reinterpret_cast<uint4*>(out) + at, SiluAndMul(gates, values));
}

// Any width: rows start anywhere.
__global__ void silu_and_mul_elements(const __half* __restrict__ x, __half* __restrict__ out, long long tokens,
                                      long long d) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < tokens * d; at += step) {
    const long long gate_at = at + at / d * d;
    out[at] = __float2half_rn(SiluAndMul(__half2float(x[gate_at]), __half2float(x[gate_at + d])));
  }
}
