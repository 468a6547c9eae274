// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/rmsnorm.cu with the bindings that were fastest on an H200, by shape.
//
// rmsnorm that reads its input from memory once. Contiguous rows stay in a block's registers; where they are HELD vectors for
// each thread, nothing is asked about where they end. Where features are
// strided (inner > 1), a block takes 32 neighboring vectors of positions and all their features: a warp holds EACH
// features of them in registers, and the warps add their squares through shared memory.
/*hone
[tune]
BLOCK = [256]
HELD = [4]
HINT = [0]
WARPS = [8]
EACH = [8]

[[launch]]
kernel = "rmsnorm_rows<4, HELD, BLOCK, HINT, 1>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && batch * features <= 16777216 && features == 4 * HELD * BLOCK"
with   = { BLOCK = 64, HELD = 16, HINT = 1, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, HELD, BLOCK, HINT, 1>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features == 4 * HELD * BLOCK"
with   = { BLOCK = 640, HELD = 2, HINT = 2, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, HELD, BLOCK, HINT, 1>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features == 4 * HELD * BLOCK"
with   = { BLOCK = 256, HELD = 4, HINT = 2, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, 1, BLOCK, HINT, 0>"
grid   = ["features > 0 ? min(batch, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features / 4 <= BLOCK"

[[launch]]
kernel = "rmsnorm_rows<4, 2, BLOCK, HINT, 0>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features / 4 <= 2 * BLOCK"

[[launch]]
kernel = "rmsnorm_rows<4, 4, BLOCK, HINT, 0>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features / 4 <= 4 * BLOCK"

[[launch]]
kernel = "rmsnorm_rows<4, 8, BLOCK, HINT, 0>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features / 4 <= 8 * BLOCK"

[[launch]]
kernel = "rmsnorm_rows<1, 8, BLOCK, HINT, 0>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features <= 8 * BLOCK"

[[launch]]
kernel = "rmsnorm_positions<4, EACH, HINT>"
grid   = ["features > 0 ? batch * ceil_div(inner / 4, 32) : 0"]
block  = ["32", "WARPS"]
args   = ["x", "out", "features:i32", "inner / 4:i64", "eps:f32"]
when   = "inner % 4 == 0 && features <= EACH * WARPS && batch * ceil_div(inner / 4, 32) <= 2147483647"

[[launch]]
kernel = "rmsnorm_positions<1, EACH, HINT>"
grid   = ["features > 0 ? batch * ceil_div(inner, 32) : 0"]
block  = ["32", "WARPS"]
args   = ["x", "out", "features:i32", "inner:i64", "eps:f32"]
when   = "features <= EACH * WARPS && batch * ceil_div(inner, 32) <= 2147483647"

[[launch]]
kernel = "rmsnorm_any"
grid   = ["min(batch * inner, 2147483647)"]
block  = ["256"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
*/

namespace {

constexpr unsigned kWarp = 0xffffffffu;

template <int kWidth>
struct Pack;
template <>
struct Pack<4> {
  using Type = float4;
};
template <>
struct Pack<1> {
  using Type = float;
};

// The sum over the block, in every thread: `lanes` has a value for each warp.
template <int kThreads>
__device__ __forceinline__ float BlockSum(float value, float* lanes) {
  constexpr int kWarps = kThreads / 32;
  constexpr int kGroup = kWarps > 16 ? 32 : kWarps > 8 ? 16 : kWarps > 4 ? 8 : kWarps > 2 ? 4 : kWarps;  // a power of two
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kWarp, value, offset);
  if constexpr (kWarps > 1) {
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % kGroup < kWarps ? lanes[threadIdx.x % kGroup] : 0.0f;
#pragma unroll
    for (int offset = kGroup / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kWarp, value, offset);
  }
  return value;
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

// x, out [batch, features]; features is a multiple of kWidth and features / kWidth <= kEach * kThreads, with kWhole no less.
template <int kWidth, int kEach, int kThreads, int kHint, int kWhole>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_rows(const float* __restrict__ x, float* __restrict__ out, long long batch, int features, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float lanes[32];
  const int vectors = features / kWidth;
  for (long long row = blockIdx.x; row < batch; row += gridDim.x) {
    const Vector* from = reinterpret_cast<const Vector*>(x + row * features);
    Vector* to = reinterpret_cast<Vector*>(out + row * features);
    Vector held[kEach];
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = static_cast<int>(threadIdx.x) + i * kThreads;
      if (kWhole || at < vectors) held[i] = Load<kHint>(from + at);
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (kWhole || static_cast<int>(threadIdx.x) + i * kThreads < vectors) {
        const float* v = reinterpret_cast<const float*>(&held[i]);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) squares += v[j] * v[j];
      }
    }
    const float scale = rsqrtf(__fdividef(BlockSum<kThreads>(squares, lanes), static_cast<float>(features)) + eps);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = static_cast<int>(threadIdx.x) + i * kThreads;
      if (kWhole || at < vectors) {
        float* v = reinterpret_cast<float*>(&held[i]);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) v[j] *= scale;
        Store<kHint>(to + at, held[i]);
      }
    }
    if (row + gridDim.x < batch) __syncthreads();  // `lanes` is used again
  }
}

// x, out [batch, features, stride] of vectors; features <= kEach * blockDim.y, blockDim.x = 32.
template <int kWidth, int kEach, int kHint>
__global__ void rmsnorm_positions(const float* __restrict__ x, float* __restrict__ out, int features,
                                  long long stride, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float shared[32][32 * kWidth];  // squares by warp, element of the vector, lane
  const unsigned blocks = static_cast<unsigned>((stride + 31) / 32);  // of one batch entry
  const unsigned entry = blockIdx.x / blocks;
  const long long position = static_cast<long long>(blockIdx.x % blocks) * 32 + threadIdx.x;
  const bool mine = position < stride;
  const long long first = static_cast<long long>(entry) * features * stride + position;
  const Vector* from = reinterpret_cast<const Vector*>(x) + first;
  Vector* to = reinterpret_cast<Vector*>(out) + first;
  Vector held[kEach];
  float squares[kWidth] = {};
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int feature = threadIdx.y + i * blockDim.y;
    if (mine && feature < features) {
      held[i] = Load<kHint>(from + feature * stride);
      const float* v = reinterpret_cast<const float*>(&held[i]);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) squares[j] += v[j] * v[j];
    }
  }
#pragma unroll
  for (int j = 0; j < kWidth; ++j) shared[threadIdx.y][j * 32 + threadIdx.x] = squares[j];
  __syncthreads();
  float scale[kWidth];
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    float sum = 0.0f;
    for (int w = 0; w < blockDim.y; ++w) sum += shared[w][j * 32 + threadIdx.x];
    scale[j] = rsqrtf(__fdividef(sum, static_cast<float>(features)) + eps);
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int feature = threadIdx.y + i * blockDim.y;
    if (mine && feature < features) {
      float* v = reinterpret_cast<float*>(&held[i]);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) v[j] *= scale[j];
      Store<kHint>(to + feature * stride, held[i]);
    }
  }
}

// Any shape: a block a position, read twice.
__global__ void __launch_bounds__(256) rmsnorm_any(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features,
                            long long inner, float eps) {
  __shared__ float lanes[32];
  for (long long p = blockIdx.x; p < batch * inner; p += gridDim.x) {
    const long long first = p / inner * features * inner + p % inner;
    float squares = 0.0f;
    for (long long i = threadIdx.x; i < features; i += blockDim.x) {
      const float v = x[first + i * inner];
      squares += v * v;
    }
    const float scale = rsqrtf(BlockSum<256>(squares, lanes) / static_cast<float>(features) + eps);
    for (long long i = threadIdx.x; i < features; i += blockDim.x) out[first + i * inner] = x[first + i * inner] * scale;
    __syncthreads();  // `lanes` is used again
  }
}
