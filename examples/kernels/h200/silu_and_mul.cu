// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// silu_and_mul as tuned on an H200 (benchmarks/results/2026-11-22-h200-serving-kernels.json): the template
// examples/kernels/silu_and_mul.cu with its tunables bound by shape. One vector of gates and one of values a thread, a
// short one that is streamed where everything fits into L2 many times over.
/*hone
[[launch]]
kernel = "silu_and_mul_whole<8, 256, true>"
grid   = ["tokens * (d / 4) / 256"]
block  = ["256"]
args   = ["x", "out", "d / 4:u32", "ceil_div(4294967296, d / 4):u32"]
when   = """tokens * d <= 1048576 && d % 4 == 0 && d >= 16 && tokens * (d / 4) % 256 == 0
           && tokens * (d / 4) < 2147483648
           && tokens * (d / 4) * (ceil_div(4294967296, d / 4) * (d / 4) - 4294967296) < 4294967296"""

[[launch]]
kernel = "silu_and_mul_whole<16, 512, false>"
grid   = ["tokens * (d / 8) / 512"]
block  = ["512"]
args   = ["x", "out", "d / 8:u32", "ceil_div(4294967296, d / 8):u32"]
when   = """tokens * d <= 8388608 && d % 8 == 0 && d >= 16 && tokens * (d / 8) % 512 == 0
           && tokens * (d / 8) < 2147483648
           && tokens * (d / 8) * (ceil_div(4294967296, d / 8) * (d / 8) - 4294967296) < 4294967296"""

[[launch]]
kernel = "silu_and_mul_rows<1, true>"
grid   = ["tokens * ceil_div(d / 8, 128)"]
block  = ["round_up(ceil_div(d / 8, ceil_div(d / 8, 128)), 32)"]
args   = ["x", "out", "d / 8:u32", "ceil_div(d / 8, 128):u32"]
when   = "d % 8 == 0 && d >= 2048 && tokens * d <= 1048576"

[[launch]]
kernel = "silu_and_mul_rows<1, false>"
grid   = ["tokens * ceil_div(d / 8, 512)"]
block  = ["round_up(ceil_div(d / 8, ceil_div(d / 8, 512)), 32)"]
args   = ["x", "out", "d / 8:u32", "ceil_div(d / 8, 512):u32"]
when   = "d % 8 == 0 && d >= 2048 && d < 17179869184 && tokens * ceil_div(d / 8, 512) <= 2147483647"

[[launch]]
kernel = "silu_and_mul_vectors<1, false>"
grid   = ["ceil_div(tokens * (d / 8), 256)"]
block  = ["256"]
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

// x [tokens, 2, per_row], out [tokens, per_row], of vectors of kBytes; whole blocks of kThreads of them. A vector's row
// is the upper half of its number times `reciprocal`, which is 2^32 / per_row, rounded up.
template <int kBytes, int kThreads, bool kStream>
__global__ void __launch_bounds__(kThreads)
    silu_and_mul_whole(const __half* __restrict__ x, __half* __restrict__ out, unsigned per_row, unsigned reciprocal) {
  using Type = typename Vector<kBytes>::Type;
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  const unsigned row = __umulhi(at, reciprocal);
  const Type* gate = reinterpret_cast<const Type*>(x) + static_cast<size_t>(at) + static_cast<size_t>(row) * per_row;
  const Type gates = Load<kStream>(gate), values = Load<kStream>(gate + per_row);
  Store<kStream>(reinterpret_cast<Type*>(out) + at, SiluAndMul(gates, values));
}

// x [tokens, 2, per_row], out [tokens, per_row], of vectors of eight float16; `pieces` blocks a row.
template <int kEach, bool kStream>
__global__ void silu_and_mul_rows(const __half* __restrict__ x, __half* __restrict__ out, unsigned per_row,
                                  unsigned pieces) {
  const unsigned row = blockIdx.x / pieces, piece = blockIdx.x - row * pieces;
  const uint4* gate_row = reinterpret_cast<const uint4*>(x) + static_cast<size_t>(row) * 2 * per_row;
  const uint4* value_row = gate_row + per_row;
  uint4* out_row = reinterpret_cast<uint4*>(out) + static_cast<size_t>(row) * per_row;
  const unsigned first = piece * (blockDim.x * kEach) + threadIdx.x;
  uint4 gates[kEach], values[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < per_row) {
      gates[i] = Load<kStream>(gate_row + at);
      values[i] = Load<kStream>(value_row + at);
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < per_row) Store<kStream>(out_row + at, SiluAndMul(gates[i], values[i]));
  }
}

// The same, `vectors` of them in all.
template <int kEach, bool kStream>
__global__ void silu_and_mul_vectors(const __half* __restrict__ x, __half* __restrict__ out, unsigned vectors,
                                     unsigned per_row) {
  const uint4* from = reinterpret_cast<const uint4*>(x);
  uint4* to = reinterpret_cast<uint4*>(out);
  const unsigned first = blockIdx.x * (blockDim.x * kEach) + threadIdx.x;
  uint4 gates[kEach], values[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < vectors) {
      const unsigned row = at / per_row;
      const size_t gate_at = static_cast<size_t>(at) + static_cast<size_t>(row) * per_row;
      gates[i] = Load<kStream>(from + gate_at);
      values[i] = Load<kStream>(from + gate_at + per_row);
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < vectors) Store<kStream>(to + at, SiluAndMul(gates[i], values[i]));
  }
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
