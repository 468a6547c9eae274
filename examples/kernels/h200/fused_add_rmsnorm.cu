// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// fused_add_rmsnorm as tuned on an H200 (benchmarks/results/2026-11-22-h200-serving-kernels.json): the template
// examples/kernels/fused_add_rmsnorm.cu with its tunables bound by shape. Few wide rows are shared by clusters; rows stay
// in shared memory where that fills SMs with threads, else in registers.
/*hone
[[launch]]
kernel = "fused_add_rmsnorm_row<1, false, 8>"
grid   = ["tokens * 8"]
block  = ["round_up(ceil_div(d / 8, 8), 32)"]
cluster = ["8"]
args   = ["x", "residual", "weight", "d / 8:u32", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d >= 4096 && d <= 65536 && tokens * 8 <= sm_count && cc >= 90"

[[launch]]
kernel = "fused_add_rmsnorm_row<2, false, 1>"
grid   = ["tokens"]
block  = ["round_up(ceil_div(d / 8, 2), 32)"]
args   = ["x", "residual", "weight", "d / 8:u32", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d > 0 && d <= 16384 && tokens <= 2 * sm_count"

[[launch]]
kernel = "fused_add_rmsnorm_shared<false>"
grid   = ["tokens"]
block  = ["round_up(ceil_div(d / 8, 2), 32)"]
shared = "2 * d"
args   = ["x", "residual", "weight", "d / 8:u32", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d > 0 && d <= 8192 && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_shared<true>"
grid   = ["tokens"]
block  = ["round_up(ceil_div(d / 8, 4), 32)"]
shared = "2 * d"
args   = ["x", "residual", "weight", "d / 8:u32", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d > 0 && d <= 16384 && tokens <= 4 * sm_count"

[[launch]]
kernel = "fused_add_rmsnorm_row<3, false, 1>"
grid   = ["tokens"]
block  = ["round_up(ceil_div(d / 8, 3), 32)"]
args   = ["x", "residual", "weight", "d / 8:u32", "d:i32", "eps:f32"]
when   = "d % 8 == 0 && d > 0 && d <= 24576 && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_any<8>"
grid   = ["d > 0 ? min(tokens, 2147483647) : 0"]
block  = ["1024"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
when   = "d % 8 == 0"

[[launch]]
kernel = "fused_add_rmsnorm_any<1>"
grid   = ["min(tokens, 2147483647)"]
block  = ["512"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
*/
#include <cooperative_groups.h>
#include <cuda_fp16.h>

namespace {

template <int kWidth>
struct Pack;
template <>
struct Pack<8> {
  using Type = uint4;
};
template <>
struct Pack<1> {
  using Type = __half;
};

// The sum over the block, in every thread. A value a warp in `partial`, which may not be used again before a barrier;
// block size is a multiple of 32.
__device__ __forceinline__ float BlockSum(float value, float* partial) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  const unsigned warps = blockDim.x / 32;
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  if (threadIdx.x >= warps && threadIdx.x < 32) partial[threadIdx.x] = 0.0f;
  __syncthreads();
  float4 sum = reinterpret_cast<const float4*>(partial)[0];
  for (unsigned i = 1; 4 * i < warps; ++i) {
    const float4 more = reinterpret_cast<const float4*>(partial)[i];
    sum.x += more.x;
    sum.y += more.y;
    sum.z += more.z;
    sum.w += more.w;
  }
  return (sum.x + sum.y) + (sum.z + sum.w);
}

template <bool kStream>
__device__ __forceinline__ uint4 Load(const uint4* p) {
  return kStream ? __ldcs(p) : *p;
}

template <bool kStream>
__device__ __forceinline__ void Store(uint4* p, const uint4& value) {
  if (kStream) {
    __stcs(p, value);
  } else {
    *p = value;
  }
}

// sum += added, rounded to float16; the squares of the sum before it is rounded.
__device__ __forceinline__ float Add(uint4& sum, const uint4& added) {
  const __half2* a = reinterpret_cast<const __half2*>(&added);
  __half2* s = reinterpret_cast<__half2*>(&sum);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 p = __half22float2(a[j]), q = __half22float2(s[j]);
    const float2 value = make_float2(p.x + q.x, p.y + q.y);
    s[j] = __floats2half2_rn(value.x, value.y);
    squares += value.x * value.x + value.y * value.y;
  }
  return squares;
}

__device__ __forceinline__ uint4 Scaled(const uint4& sum, float scale, const uint4& weights) {
  const __half2* s = reinterpret_cast<const __half2*>(&sum);
  const __half2* w = reinterpret_cast<const __half2*>(&weights);
  uint4 packed;
  __half2* result = reinterpret_cast<__half2*>(&packed);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 value = __half22float2(s[j]), by = __half22float2(w[j]);
    result[j] = __floats2half2_rn(value.x * scale * by.x, value.y * scale * by.y);
  }
  return packed;
}

}  // namespace

// A block of at most 512 threads a row; `sums` has room for it.
template <bool kStream>
__global__ void __launch_bounds__(512, 4)
    fused_add_rmsnorm_shared(__half* __restrict__ x, __half* __restrict__ residual, const __half* __restrict__ weight,
                             unsigned vectors, int d, float eps) {
  extern __shared__ uint4 sums[];
  __shared__ __align__(16) float partial[32];
  uint4* x_row = reinterpret_cast<uint4*>(x) + static_cast<size_t>(blockIdx.x) * vectors;
  uint4* residual_row = reinterpret_cast<uint4*>(residual) + static_cast<size_t>(blockIdx.x) * vectors;
  float squares = 0.0f;
#pragma unroll 1
  for (unsigned at = threadIdx.x; at < vectors; at += blockDim.x) {
    const uint4 added = Load<kStream>(x_row + at);
    uint4 sum = Load<kStream>(residual_row + at);
    squares += Add(sum, added);
    Store<kStream>(residual_row + at, sum);
    sums[at] = sum;
  }
  const float scale = rsqrtf(BlockSum(squares, partial) / static_cast<float>(d) + eps);
#pragma unroll 1
  for (unsigned at = threadIdx.x; at < vectors; at += blockDim.x) {
    Store<kStream>(x_row + at, Scaled(sums[at], scale, __ldg(reinterpret_cast<const uint4*>(weight) + at)));
  }
}

// kCluster blocks a row of `vectors` = d / 8 <= kCluster * kEach * blockDim.x.
template <int kEach, bool kStream, int kCluster>
__global__ void fused_add_rmsnorm_row(__half* __restrict__ x, __half* __restrict__ residual,
                                      const __half* __restrict__ weight, unsigned vectors, int d, float eps) {
  __shared__ __align__(16) float partial[32];
  __shared__ float of_block[kCluster];
  namespace cg = cooperative_groups;
  if constexpr (kCluster > 1) cg::this_cluster().barrier_arrive();  // awaited before another's shared memory is touched
  const unsigned row = blockIdx.x / kCluster, rank = blockIdx.x % kCluster;
  uint4* x_row = reinterpret_cast<uint4*>(x) + static_cast<size_t>(row) * vectors;
  uint4* residual_row = reinterpret_cast<uint4*>(residual) + static_cast<size_t>(row) * vectors;
  const unsigned first = rank * (blockDim.x * kEach) + threadIdx.x;
  uint4 added[kEach], sums[kEach], weights[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < vectors) {
      added[i] = Load<kStream>(x_row + at);
      sums[i] = Load<kStream>(residual_row + at);
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < vectors) weights[i] = __ldg(reinterpret_cast<const uint4*>(weight) + at);
  }
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < vectors) {
      squares += Add(sums[i], added[i]);
      Store<kStream>(residual_row + at, sums[i]);
    }
  }
  float total = BlockSum(squares, partial);
  if constexpr (kCluster > 1) {
    cg::cluster_group cluster = cg::this_cluster();
    cluster.barrier_wait();
    if (threadIdx.x < kCluster) cluster.map_shared_rank(of_block, threadIdx.x)[rank] = total;
    cluster.sync();
    total = 0.0f;
#pragma unroll
    for (int i = 0; i < kCluster; ++i) total += of_block[i];
  }
  const float scale = rsqrtf(total / static_cast<float>(d) + eps);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * blockDim.x;
    if (at < vectors) Store<kStream>(x_row + at, Scaled(sums[i], scale, weights[i]));
  }
}

// Any width that is a multiple of kWidth: the sum is read back.
template <int kWidth>
__global__ void fused_add_rmsnorm_any(__half* __restrict__ x, __half* __restrict__ residual,
                                      const __half* __restrict__ weight, long long tokens, long long d, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ __align__(16) float partial[32];
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    Vector* x_row = reinterpret_cast<Vector*>(x + row * d);
    Vector* residual_row = reinterpret_cast<Vector*>(residual + row * d);
    float squares = 0.0f;
    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector added = x_row[i];
      Vector sum = residual_row[i];
      const __half* a = reinterpret_cast<const __half*>(&added);
      __half* s = reinterpret_cast<__half*>(&sum);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        const float value = __half2float(a[j]) + __half2float(s[j]);
        s[j] = __float2half_rn(value);
        squares += value * value;
      }
      residual_row[i] = sum;
    }
    const float scale = rsqrtf(BlockSum(squares, partial) / static_cast<float>(d) + eps);
    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector sum = residual_row[i];
      const Vector weights = reinterpret_cast<const Vector*>(weight)[i];
      Vector packed;
      const __half* s = reinterpret_cast<const __half*>(&sum);
      const __half* w = reinterpret_cast<const __half*>(&weights);
      __half* r = reinterpret_cast<__half*>(&packed);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) r[j] = __float2half_rn(__half2float(s[j]) * scale * __half2float(w[j]));
      x_row[i] = packed;
    }
    __syncthreads();  // `partial` is used again
  }
}
