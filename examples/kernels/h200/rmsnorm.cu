// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/rmsnorm.cu with the bindings that were fastest on an H200, by shape.
//
// rmsnorm that reads its input from memory once. Contiguous rows stay in a block's registers. Where features are
// strided (inner > 1), a block takes 32 neighboring vectors of positions and all their features: a warp holds EACH
// features of them in registers, and the warps add their squares through shared memory.
/*hone
[tune]
BLOCK = [256, 128, 512]
WARPS = [8]
EACH = [8]

[[launch]]
kernel = "rmsnorm_rows<4, 1>"
grid   = ["features > 0 ? min(batch, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 4096) && (inner == 1 && features % 4 == 0 && features / 4 <= BLOCK)"
with   = { BLOCK = 128, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, 2>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 4096) && (inner == 1 && features % 4 == 0 && features / 4 <= 2 * BLOCK)"
with   = { BLOCK = 128, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, 4>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 4096) && (inner == 1 && features % 4 == 0 && features / 4 <= 4 * BLOCK)"
with   = { BLOCK = 128, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, 8>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 4096) && (inner == 1 && features % 4 == 0 && features / 4 <= 8 * BLOCK)"
with   = { BLOCK = 128, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<1, 8>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 4096) && (inner == 1 && features <= 8 * BLOCK)"
with   = { BLOCK = 128, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_positions<4, EACH>"
grid   = ["features > 0 ? batch * ceil_div(inner / 4, 32) : 0"]
block  = ["32", "WARPS"]
args   = ["x", "out", "features:i32", "inner / 4:i64", "eps:f32"]
when   = "(inner == 1 && features <= 4096) && (inner % 4 == 0 && features <= EACH * WARPS && batch * ceil_div(inner / 4, 32) <= 2147483647)"
with   = { BLOCK = 128, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_positions<1, EACH>"
grid   = ["features > 0 ? batch * ceil_div(inner, 32) : 0"]
block  = ["32", "WARPS"]
args   = ["x", "out", "features:i32", "inner:i64", "eps:f32"]
when   = "(inner == 1 && features <= 4096) && (features <= EACH * WARPS && batch * ceil_div(inner, 32) <= 2147483647)"
with   = { BLOCK = 128, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_any"
grid   = ["min(batch * inner, 2147483647)"]
block  = ["256"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
when   = "inner == 1 && features <= 4096"
with   = { BLOCK = 128, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, 1>"
grid   = ["features > 0 ? min(batch, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 8192) && (inner == 1 && features % 4 == 0 && features / 4 <= BLOCK)"
with   = { BLOCK = 512, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, 2>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 8192) && (inner == 1 && features % 4 == 0 && features / 4 <= 2 * BLOCK)"
with   = { BLOCK = 512, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, 4>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 8192) && (inner == 1 && features % 4 == 0 && features / 4 <= 4 * BLOCK)"
with   = { BLOCK = 512, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, 8>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 8192) && (inner == 1 && features % 4 == 0 && features / 4 <= 8 * BLOCK)"
with   = { BLOCK = 512, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<1, 8>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "(inner == 1 && features <= 8192) && (inner == 1 && features <= 8 * BLOCK)"
with   = { BLOCK = 512, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_positions<4, EACH>"
grid   = ["features > 0 ? batch * ceil_div(inner / 4, 32) : 0"]
block  = ["32", "WARPS"]
args   = ["x", "out", "features:i32", "inner / 4:i64", "eps:f32"]
when   = "(inner == 1 && features <= 8192) && (inner % 4 == 0 && features <= EACH * WARPS && batch * ceil_div(inner / 4, 32) <= 2147483647)"
with   = { BLOCK = 512, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_positions<1, EACH>"
grid   = ["features > 0 ? batch * ceil_div(inner, 32) : 0"]
block  = ["32", "WARPS"]
args   = ["x", "out", "features:i32", "inner:i64", "eps:f32"]
when   = "(inner == 1 && features <= 8192) && (features <= EACH * WARPS && batch * ceil_div(inner, 32) <= 2147483647)"
with   = { BLOCK = 512, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_any"
grid   = ["min(batch * inner, 2147483647)"]
block  = ["256"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
when   = "inner == 1 && features <= 8192"
with   = { BLOCK = 512, WARPS = 8, EACH = 8 }

[[launch]]
kernel = "rmsnorm_rows<4, 1>"
grid   = ["features > 0 ? min(batch, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features / 4 <= BLOCK"

[[launch]]
kernel = "rmsnorm_rows<4, 2>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features / 4 <= 2 * BLOCK"

[[launch]]
kernel = "rmsnorm_rows<4, 4>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features / 4 <= 4 * BLOCK"

[[launch]]
kernel = "rmsnorm_rows<4, 8>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features % 4 == 0 && features / 4 <= 8 * BLOCK"

[[launch]]
kernel = "rmsnorm_rows<1, 8>"
grid   = ["min(batch, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "out", "batch:i64", "features:i32", "eps:f32"]
when   = "inner == 1 && features <= 8 * BLOCK"

[[launch]]
kernel = "rmsnorm_positions<4, EACH>"
grid   = ["features > 0 ? batch * ceil_div(inner / 4, 32) : 0"]
block  = ["32", "WARPS"]
args   = ["x", "out", "features:i32", "inner / 4:i64", "eps:f32"]
when   = "inner % 4 == 0 && features <= EACH * WARPS && batch * ceil_div(inner / 4, 32) <= 2147483647"

[[launch]]
kernel = "rmsnorm_positions<1, EACH>"
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

// The sum over the block, in every thread. `lanes` holds a value a warp; block size is a multiple of 32.
__device__ __forceinline__ float BlockSum(float value, float* lanes) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kWarp, value, offset);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? lanes[threadIdx.x % 32] : 0.0f;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kWarp, value, offset);
  __syncthreads();  // `lanes` may be used again
  return value;
}

}  // namespace

// x, out [batch, features]; features is a multiple of kWidth and features / kWidth <= kEach * blockDim.x.
template <int kWidth, int kEach>
__global__ void rmsnorm_rows(const float* __restrict__ x, float* __restrict__ out, long long batch, int features,
                             float eps) {
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
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vectors) {
        held[i] = __ldcs(from + at);
        const float* v = reinterpret_cast<const float*>(&held[i]);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) squares += v[j] * v[j];
      }
    }
    const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(features) + eps);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vectors) {
        float* v = reinterpret_cast<float*>(&held[i]);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) v[j] *= scale;
        __stcs(to + at, held[i]);
      }
    }
  }
}

// x, out [batch, features, stride] of vectors; features <= kEach * blockDim.y, blockDim.x = 32.
template <int kWidth, int kEach>
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
      held[i] = __ldcs(from + feature * stride);
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
    scale[j] = rsqrtf(sum / static_cast<float>(features) + eps);
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int feature = threadIdx.y + i * blockDim.y;
    if (mine && feature < features) {
      float* v = reinterpret_cast<float*>(&held[i]);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) v[j] *= scale[j];
      __stcs(to + feature * stride, held[i]);
    }
  }
}

// Any shape: a block a position, read twice.
__global__ void rmsnorm_any(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features,
                            long long inner, float eps) {
  __shared__ float lanes[32];
  for (long long p = blockIdx.x; p < batch * inner; p += gridDim.x) {
    const long long first = p / inner * features * inner + p % inner;
    float squares = 0.0f;
    for (long long i = threadIdx.x; i < features; i += blockDim.x) {
      const float v = x[first + i * inner];
      squares += v * v;
    }
    const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(features) + eps);
    for (long long i = threadIdx.x; i < features; i += blockDim.x) out[first + i * inner] = x[first + i * inner] * scale;
  }
}
