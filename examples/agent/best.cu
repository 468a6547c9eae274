// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[workspace]]
name = "parts"
bytes = "d > 16384 ? rows * ceil_div(d, 8192) * 8 : 0"

[[launch]]
kernel = "warp_rows"
grid   = ["ceil_div(rows, 4)"]
block  = ["128"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
when   = "d % 4 == 0 && d > 0 && d <= 1024"

[[launch]]
kernel = "block_rows<256, 4, 4, true>"
grid   = ["min(rows, sm_count * occupancy(block_rows<256, 4, 4, true>))"]
block  = ["256"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
when   = "d % 4 == 0 && d > 0 && d <= 4096"

[[launch]]
kernel = "block_rows<1024, 4, 4, false>"
grid   = ["rows"]
block  = ["1024"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
when   = "d % 4 == 0 && d > 0 && d <= 16384"

[[launch]]
kernel = "block_rows<128, 1, 10, true>"
grid   = ["d > 0 ? min(rows, sm_count * occupancy(block_rows<128, 1, 10, true>)) : 0"]
block  = ["128"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
when   = "d <= 1280"

[[launch]]
kernel = "block_rows<1024, 1, 16, false>"
grid   = ["rows"]
block  = ["1024"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
when   = "d <= 16384"

[[launch]]
kernel = "chunk_statistics<4>"
grid   = ["rows * ceil_div(d, 8192)"]
block  = ["256"]
args   = ["x", "parts", "d:i64", "ceil_div(d, 8192):i32"]
when   = "d % 4 == 0"

[[launch]]
kernel = "chunk_statistics<1>"
grid   = ["rows * ceil_div(d, 8192)"]
block  = ["256"]
args   = ["x", "parts", "d:i64", "ceil_div(d, 8192):i32"]

[[launch]]
step   = 1
kernel = "normalize_chunks<4>"
grid   = ["rows * ceil_div(d, 8192)"]
block  = ["256"]
args   = ["x", "weight", "bias", "parts", "out", "d:i64", "ceil_div(d, 8192):i32", "eps:f32"]
when   = "d > 16384 && d % 4 == 0"

[[launch]]
step   = 1
kernel = "normalize_chunks<1>"
grid   = ["d > 16384 ? rows * ceil_div(d, 8192) : 0"]
block  = ["256"]
args   = ["x", "weight", "bias", "parts", "out", "d:i64", "ceil_div(d, 8192):i32", "eps:f32"]
*/

constexpr int kChunk = 8192;  // elements of a long row that a block of 256 threads holds in registers

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

__device__ __forceinline__ float WarpSum(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// The sum over the block, in every thread; `lanes` may be used again afterwards.
__device__ __forceinline__ float BlockSum(float value, float* lanes) {
  value = WarpSum(value);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
  __syncthreads();
  value = WarpSum(threadIdx.x % 32 < blockDim.x / 32 ? lanes[threadIdx.x % 32] : 0.0f);
  __syncthreads();
  return value;
}

// A warp a row of at most 1024 elements, all of it in registers.
__global__ void __launch_bounds__(128) warp_rows(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                          float* __restrict__ out, long long rows, long long d, float eps) {
  const long long row = static_cast<long long>(blockIdx.x) * 4 + threadIdx.x / 32;
  if (row >= rows) return;
  const int lane = threadIdx.x % 32, packs = static_cast<int>(d / 4);
  const float4* in = reinterpret_cast<const float4*>(x + row * d);
  float4 v[8];
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int i = lane + 32 * j;
    v[j] = i < packs ? in[i] : make_float4(0, 0, 0, 0);
    sum += (v[j].x + v[j].y) + (v[j].z + v[j].w);
  }
  const float mean = WarpSum(sum) / static_cast<float>(d);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (lane + 32 * j < packs) {
      const float a = v[j].x - mean, b = v[j].y - mean, c = v[j].z - mean, e = v[j].w - mean;
      squares += (a * a + b * b) + (c * c + e * e);
    }
  }
  const float scale = rsqrtf(WarpSum(squares) / static_cast<float>(d) + eps);
  float4* o = reinterpret_cast<float4*>(out + row * d);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int i = lane + 32 * j;
    if (i < packs) {
      const float4 w = reinterpret_cast<const float4*>(weight)[i], b = reinterpret_cast<const float4*>(bias)[i];
      o[i] = make_float4((v[j].x - mean) * scale * w.x + b.x, (v[j].y - mean) * scale * w.y + b.y,
                         (v[j].z - mean) * scale * w.z + b.z, (v[j].w - mean) * scale * w.w + b.w);
    }
  }
}

// A block takes row after row of at most kThreads * kWidth * kItems elements. The row is in registers, and so are the
// with kKeep the weights and biases of the columns that a thread serves, which are read once for all of the block's rows.
// With 1024 threads there are 64 registers each, which hold the row alone.
template <int kThreads, int kWidth, int kItems, bool kKeep>
__global__ void __launch_bounds__(kThreads) block_rows(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                           float* __restrict__ out, long long rows, long long d, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float lanes[32];
  const int packs = static_cast<int>(d / kWidth);
  float w[kKeep ? kItems : 1][kWidth], b[kKeep ? kItems : 1][kWidth];
  if constexpr (kKeep) {
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int i = threadIdx.x + j * kThreads;
      if (i < packs) {
        *reinterpret_cast<Vector*>(w[j]) = reinterpret_cast<const Vector*>(weight)[i];
        *reinterpret_cast<Vector*>(b[j]) = reinterpret_cast<const Vector*>(bias)[i];
      }
    }
  }
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const Vector* in = reinterpret_cast<const Vector*>(x + row * d);
    float v[kItems][kWidth];
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int i = threadIdx.x + j * kThreads;
      if (i < packs) {
        *reinterpret_cast<Vector*>(v[j]) = in[i];
      } else {
#pragma unroll
        for (int k = 0; k < kWidth; ++k) v[j][k] = 0.0f;
      }
    }
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
#pragma unroll
      for (int k = 0; k < kWidth; ++k) sum += v[j][k];
    }
    const float mean = BlockSum(sum, lanes) / static_cast<float>(d);
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      if (static_cast<int>(threadIdx.x) + j * kThreads < packs) {
#pragma unroll
        for (int k = 0; k < kWidth; ++k) squares += (v[j][k] - mean) * (v[j][k] - mean);
      }
    }
    const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);
    Vector* o = reinterpret_cast<Vector*>(out + row * d);
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int i = threadIdx.x + j * kThreads;
      if (i < packs) {
        constexpr int kOne = kKeep ? 1 : 0;
        if constexpr (!kKeep) {
          *reinterpret_cast<Vector*>(w[0]) = reinterpret_cast<const Vector*>(weight)[i];
          *reinterpret_cast<Vector*>(b[0]) = reinterpret_cast<const Vector*>(bias)[i];
        }
        float r[kWidth];
#pragma unroll
        for (int k = 0; k < kWidth; ++k) r[k] = (v[j][k] - mean) * scale * w[kOne * j][k] + b[kOne * j][k];
        o[i] = *reinterpret_cast<Vector*>(r);
      }
    }
  }
}

// Mean and summed squares about that mean of each chunk of a long row.
template <int kWidth>
__global__ void __launch_bounds__(256) chunk_statistics(const float* __restrict__ x, float2* __restrict__ parts, long long d, int chunks) {
  using Vector = typename Pack<kWidth>::Type;
  constexpr int kItems = kChunk / 256 / kWidth;
  __shared__ float lanes[32];
  const long long row = blockIdx.x / chunks, begin = static_cast<long long>(blockIdx.x % chunks) * kChunk;
  const int size = static_cast<int>(d - begin < kChunk ? d - begin : kChunk), packs = size / kWidth;
  const Vector* in = reinterpret_cast<const Vector*>(x + row * d + begin);
  float v[kItems][kWidth];
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const int i = threadIdx.x + j * 256;
    if (i < packs) {
      *reinterpret_cast<Vector*>(v[j]) = in[i];
    } else {
#pragma unroll
      for (int k = 0; k < kWidth; ++k) v[j][k] = 0.0f;
    }
#pragma unroll
    for (int k = 0; k < kWidth; ++k) sum += v[j][k];
  }
  const float mean = BlockSum(sum, lanes) / static_cast<float>(size);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    if (static_cast<int>(threadIdx.x) + j * 256 < packs) {
#pragma unroll
      for (int k = 0; k < kWidth; ++k) squares += (v[j][k] - mean) * (v[j][k] - mean);
    }
  }
  squares = BlockSum(squares, lanes);
  if (threadIdx.x == 0) parts[blockIdx.x] = make_float2(mean, squares);
}

// Joins the chunks' statistics, in each block anew, and normalizes one chunk.
template <int kWidth>
__global__ void __launch_bounds__(256) normalize_chunks(const float* __restrict__ x, const float* __restrict__ weight,
                                 const float* __restrict__ bias, const float2* __restrict__ parts, float* __restrict__ out,
                                 long long d, int chunks, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float lanes[32];
  const long long row = blockIdx.x / chunks, begin = static_cast<long long>(blockIdx.x % chunks) * kChunk;
  const float2* mine = parts + row * chunks;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < chunks; i += 256)
    sum += mine[i].x * static_cast<float>(i + 1 < chunks ? kChunk : d - static_cast<long long>(i) * kChunk);
  const float mean = BlockSum(sum, lanes) / static_cast<float>(d);
  float squares = 0.0f;
  for (int i = threadIdx.x; i < chunks; i += 256) {
    const float size = static_cast<float>(i + 1 < chunks ? kChunk : d - static_cast<long long>(i) * kChunk);
    squares += mine[i].y + size * (mine[i].x - mean) * (mine[i].x - mean);
  }
  const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);
  const int packs = static_cast<int>((d - begin < kChunk ? d - begin : kChunk) / kWidth);
  const Vector* in = reinterpret_cast<const Vector*>(x + row * d + begin);
  const Vector* weights = reinterpret_cast<const Vector*>(weight + begin);
  const Vector* biases = reinterpret_cast<const Vector*>(bias + begin);
  Vector* o = reinterpret_cast<Vector*>(out + row * d + begin);
#pragma unroll 4
  for (int i = threadIdx.x; i < packs; i += 256) {
    float v[kWidth], w[kWidth], b[kWidth], r[kWidth];
    *reinterpret_cast<Vector*>(v) = in[i];
    *reinterpret_cast<Vector*>(w) = weights[i];
    *reinterpret_cast<Vector*>(b) = biases[i];
#pragma unroll
    for (int k = 0; k < kWidth; ++k) r[k] = (v[k] - mean) * scale * w[k] + b[k];
    o[i] = *reinterpret_cast<Vector*>(r);
  }
}
