// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
// layernorm, each element of x read once: rows are held on chip between statistics and result.
/*hone
[tune]
WPB = [2, 1, 4, 8]
STAGES = [5, 3, 4, 6]
WPR = [2, 1, 4]
BPS = [2, 1]
BLOCK = [512, 1024]

[[workspace]]
name = "partial"
bytes = "d >= 262144 ? rows * sm_count * 8 : 8"

[[launch]]
kernel = "warp_row<6>"
grid   = ["d > 0 ? ceil_div(rows, WPB) : 0"]
block  = ["32 * WPB"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
when   = "d % 4 == 0 && d <= 768 && align(x) % 16 == 0 && align(out) % 16 == 0 && align(weight) % 16 == 0 && align(bias) % 16 == 0"

[[launch]]
kernel = "block_rows<HONE_TUNE_STAGES>"
grid   = ["min(rows, sm_count * 2)"]
block  = ["1024"]
shared = "STAGES * 16384"
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
when   = "d % 4 == 0 && d <= 4096 && align(x) % 16 == 0 && align(out) % 16 == 0 && align(weight) % 16 == 0 && align(bias) % 16 == 0"

[[launch]]
kernel = "eight_rows<(32 + HONE_TUNE_WPR) / HONE_TUNE_WPR, HONE_TUNE_WPR>"
grid   = ["d > 0 ? min(ceil_div(rows, 8), sm_count * BPS) : 0"]
block  = ["256 * WPR"]
shared = "3 * 32 * d"
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
when   = "d <= 1056 && align(x) % 16 == 0 && align(out) % 16 == 0"

[[launch]]
kernel = "grid_row"
grid   = ["sm_count"]
block  = ["1024"]
shared = "229376"
cooperative = true
args   = ["x", "weight", "bias", "out", "partial", "rows:i64", "d:i64", "eps:f32"]
when   = "d % 4 == 0 && d >= 262144 && d <= sm_count * 32768 && smem_optin >= 231000 && align(x) % 16 == 0 && align(out) % 16 == 0 && align(weight) % 16 == 0 && align(bias) % 16 == 0"

[[launch]]
kernel = "any_row"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
*/
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

__device__ __forceinline__ float WarpSum(float v) {
#pragma unroll
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

__device__ __forceinline__ float Sum4(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__device__ __forceinline__ float Squares4(float4 v, float m) {
  const float a = v.x - m, b = v.y - m, c = v.z - m, e = v.w - m;
  return (a * a + b * b) + (c * c + e * e);
}

__device__ __forceinline__ float4 Apply4(float4 v, float4 w, float4 b, float m, float s) {
  return make_float4((v.x - m) * s * w.x + b.x, (v.y - m) * s * w.y + b.y, (v.z - m) * s * w.z + b.z,
                     (v.w - m) * s * w.w + b.w);
}


// A warp a row; d <= 128 N.
template <int N>
__global__ void warp_row(const float* __restrict__ x, const float* __restrict__ weight,
                         const float* __restrict__ bias, float* __restrict__ out, long long rows, long long d,
                         float eps) {
  const int lane = threadIdx.x % 32;
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const int n = static_cast<int>(d / 4);
  const float4* xr = reinterpret_cast<const float4*>(x + row * d);
  const float4* wr = reinterpret_cast<const float4*>(weight);
  const float4* br = reinterpret_cast<const float4*>(bias);
  float4* o = reinterpret_cast<float4*>(out + row * d);
  float4 v[N], w[N], b[N];
  const float4 zero = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = lane + 32 * i < n ? __ldcs(xr + lane + 32 * i) : zero;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    w[i] = lane + 32 * i < n ? wr[lane + 32 * i] : zero;
    b[i] = lane + 32 * i < n ? br[lane + 32 * i] : zero;
  }
  float sum = 0.f;
#pragma unroll
  for (int i = 0; i < N; ++i) sum += Sum4(v[i]);
  const float mean = WarpSum(sum) / static_cast<float>(d);
  float sq = 0.f;
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (lane + 32 * i < n) sq += Squares4(v[i], mean);
  const float scale = rsqrtf(WarpSum(sq) / static_cast<float>(d) + eps);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (lane + 32 * i < n) __stcs(o + lane + 32 * i, Apply4(v[i], w[i], b[i], mean, scale));
}

// Joins `count` triples (mean, M2, n) kept one a lane in `s`; every warp does it for itself.
__device__ __forceinline__ void Join(float m, float m2, float n, float total, float eps, float* mean, float* scale) {
  const float mu = WarpSum(m * n) / total;
  const float e = m - mu;
  const float all = WarpSum(m2 + n * e * e);
  *mean = mu;
  *scale = rsqrtf(all / total + eps);
}

// Persistent blocks of 1024 threads, a row at a time, d <= 4096: weight and bias stay in registers, rows come through
// a ring in shared memory, of which each thread reads only what it has brought itself.
template <int S>
__global__ void __launch_bounds__(1024) block_rows(const float* __restrict__ x, const float* __restrict__ weight,
                                                   const float* __restrict__ bias, float* __restrict__ out,
                                                   long long rows, long long d, float eps) {
  extern __shared__ float4 ring[];
  __shared__ float2 stats[2][32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int n = static_cast<int>(d / 4);
  const bool live = t < n;
  const float total = static_cast<float>(d);
  const float own = static_cast<float>(4 * max(0, min(32, n - warp * 32)));
  const float count = static_cast<float>(4 * max(0, min(32, n - lane * 32)));
  const float4* xs = reinterpret_cast<const float4*>(x);
  float4* os = reinterpret_cast<float4*>(out);
  const float4 zero = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int s = 0; s < S - 1; ++s) {
    const long long row = blockIdx.x + static_cast<long long>(gridDim.x) * s;
    if (live && row < rows) __pipeline_memcpy_async(ring + s * 1024 + t, xs + row * n + t, 16);
    __pipeline_commit();
  }
  const float4 w = live ? reinterpret_cast<const float4*>(weight)[t] : zero;
  const float4 b = live ? reinterpret_cast<const float4*>(bias)[t] : zero;
  int slot = 0, flip = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    __pipeline_wait_prior(S - 2);
    const float4 v = live ? ring[slot * 1024 + t] : zero;
    const long long ahead = row + static_cast<long long>(gridDim.x) * (S - 1);
    const int fill = slot == 0 ? S - 1 : slot - 1;
    if (live && ahead < rows) __pipeline_memcpy_async(ring + fill * 1024 + t, xs + ahead * n + t, 16);
    __pipeline_commit();
    slot = slot == S - 1 ? 0 : slot + 1;
    const float m = own > 0.f ? WarpSum(Sum4(v)) / own : 0.f;
    const float sq = WarpSum(live ? Squares4(v, m) : 0.f);
    if (lane == 0) stats[flip][warp] = make_float2(m, sq);
    __syncthreads();
    const float2 s = stats[flip][lane];
    flip ^= 1;
    float mean, scale;
    Join(s.x, s.y, count, total, eps, &mean, &scale);
    if (live) __stcs(os + row * n + t, Apply4(v, w, b, mean, scale));
  }
}

// Persistent blocks, eight rows at a time, which together begin at a multiple of 32 bytes whatever the width; W warps a
// row; d <= 32 N W. Weight and bias stay in registers; a ring of three groups is in shared memory.
template <int N, int W>
__global__ void __launch_bounds__(256 * W) eight_rows(const float* __restrict__ x, const float* __restrict__ weight,
                                                     const float* __restrict__ bias, float* __restrict__ out,
                                                     long long rows, long long d, float eps) {
  extern __shared__ float4 ring[];
  __shared__ float2 stats[8 * W];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  constexpr int kThreads = 256 * W, kStep = 32 * W;
  const int r = warp / W, part = warp % W, at = part * 32 + lane;
  const int width = static_cast<int>(d);
  const long long groups = (rows + 7) / 8;
  auto fetch = [&](long long group, int slot) {
    if (group < groups) {
      const long long first = group * 8;
      const int total = static_cast<int>(rows - first < 8 ? rows - first : 8) * width, packs = total / 4;
      const float* xs = x + first * d;
      float4* tile = ring + slot * 2 * width;
      for (int i = t; i < packs; i += kThreads)
        __pipeline_memcpy_async(tile + i, reinterpret_cast<const float4*>(xs) + i, 16);
      for (int i = 4 * packs + t; i < total; i += kThreads) reinterpret_cast<float*>(tile)[i] = xs[i];
    }
    __pipeline_commit();
  };
  fetch(blockIdx.x, 0);
  fetch(blockIdx.x + static_cast<long long>(gridDim.x), 1);
  float w[N], b[N];
  int own = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const int j = at + kStep * i;
    w[i] = j < width ? weight[j] : 0.f;
    b[i] = j < width ? bias[j] : 0.f;
    own += max(0, min(32, width - (part * 32 + kStep * i)));
  }
  int slot = 0;
  for (long long group = blockIdx.x; group < groups; group += gridDim.x) {
    const long long first = group * 8;
    const int here = static_cast<int>(rows - first < 8 ? rows - first : 8);
    const int total = here * width, packs = total / 4;
    float4* tile4 = ring + slot * 2 * width;
    float* tile = reinterpret_cast<float*>(tile4);
    float* os = out + first * d;
    __pipeline_wait_prior(1);
    __syncthreads();  // the group is there, and the one before it has been stored
    fetch(group + 2ll * gridDim.x, slot == 0 ? 2 : slot - 1);
    slot = slot == 2 ? 0 : slot + 1;
    const bool live = r < here;
    float v[N];
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const int j = at + kStep * i;
      v[i] = live && j < width ? tile[r * width + j] : 0.f;
      sum += v[i];
    }
    const float m = own > 0 ? WarpSum(sum) / static_cast<float>(own) : 0.f;
    float sq = 0.f;
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (at + kStep * i < width) sq += (v[i] - m) * (v[i] - m);
    sq = WarpSum(sq);
    if (lane == 0) stats[warp] = make_float2(m, sq);
    __syncthreads();
    float mean = 0.f, all = 0.f;
#pragma unroll
    for (int p = 0; p < W; ++p) {
      int c = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) c += max(0, min(32, width - (p * 32 + kStep * i)));
      mean += stats[r * W + p].x * (static_cast<float>(c) / static_cast<float>(width));
    }
#pragma unroll
    for (int p = 0; p < W; ++p) {
      int c = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) c += max(0, min(32, width - (p * 32 + kStep * i)));
      const float2 s = stats[r * W + p];
      all += s.y + static_cast<float>(c) * (s.x - mean) * (s.x - mean);
    }
    const float scale = rsqrtf(all / static_cast<float>(width) + eps);
    if (live) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const int j = at + kStep * i;
        if (j < width) tile[r * width + j] = (v[i] - mean) * scale * w[i] + b[i];
      }
    }
    __syncthreads();
    for (int i = t; i < packs; i += kThreads) __stcs(reinterpret_cast<float4*>(os) + i, tile4[i]);
    for (int i = 4 * packs + t; i < total; i += kThreads) os[i] = tile[i];
  }
}

// The whole grid a row: each block keeps its slice of weight and bias in shared memory (a quarter of the bias in registers)
// for all rows, and the row's slice in registers, where the next row's replaces each pack that has been stored.
__global__ void __launch_bounds__(1024) grid_row(const float* __restrict__ x, const float* __restrict__ weight,
                                                 const float* __restrict__ bias, float* __restrict__ out,
                                                 float2* partial, long long rows, long long d, float eps) {
  constexpr int N = 8;
  constexpr int kKept = 6;  // slots of the bias that are kept
  extern __shared__ float4 kept[];
  __shared__ float2 stats[32];
  __shared__ float2 result;
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, blocks = gridDim.x;
  const long long packs = d / 4;
  const long long slice = (packs + blocks - 1) / blocks;
  const long long begin = slice * blockIdx.x;
  const int n = static_cast<int>(max(0ll, min(slice, packs - begin)));
  const float4* wr = reinterpret_cast<const float4*>(weight) + begin;
  const float4* br = reinterpret_cast<const float4*>(bias) + begin;
  const float4* xr = reinterpret_cast<const float4*>(x) + begin;
  float4* o = reinterpret_cast<float4*>(out) + begin;
  int own = 0, mine = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    own += max(0, min(32, n - (warp * 32 + 1024 * i)));
    mine += max(0, min(32, n - (lane * 32 + 1024 * i)));
  }
  float4 v[N];
#pragma unroll
  for (int i = 0; i < N; ++i)
    v[i] = t + 1024 * i < n && rows > 0 ? __ldcs(xr + t + 1024 * i) : make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const int j = t + 1024 * i;
    if (j < n) {
      __pipeline_memcpy_async(kept + j, wr + j, 16);
      if (i < kKept) __pipeline_memcpy_async(kept + 1024 * N + j, br + j, 16);
    }
  }
  __pipeline_commit();
  float4 rest[N - kKept];
#pragma unroll
  for (int i = kKept; i < N; ++i)
    rest[i - kKept] = t + 1024 * i < n ? br[t + 1024 * i] : make_float4(0.f, 0.f, 0.f, 0.f);
  __pipeline_wait_prior(0);
  for (long long row = 0; row < rows; ++row) {
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < N; ++i) sum += Sum4(v[i]);
    const float m = own > 0 ? WarpSum(sum) / static_cast<float>(4 * own) : 0.f;
    float sq = 0.f;
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (t + 1024 * i < n) sq += Squares4(v[i], m);
    sq = WarpSum(sq);
    if (lane == 0) stats[warp] = make_float2(m, sq);
    __syncthreads();
    if (warp == 0) {
      const float2 s = stats[lane];
      const float c = static_cast<float>(4 * mine);
      const float mu = n > 0 ? WarpSum(s.x * c) / static_cast<float>(4 * n) : 0.f;
      const float all = WarpSum(s.y + c * (s.x - mu) * (s.x - mu));
      if (lane == 0) partial[row * blocks + blockIdx.x] = make_float2(mu, all);
    }
    grid.sync();
    if (warp == 0) {
      float a = 0.f;
      for (int k = lane; k < blocks; k += 32) {
        const float c = static_cast<float>(4 * max(0ll, min(slice, packs - slice * k)));
        a += __ldcg(&partial[row * blocks + k].x) * (c / static_cast<float>(d));
      }
      const float mu = WarpSum(a);
      float q = 0.f;
      for (int k = lane; k < blocks; k += 32) {
        const float c = static_cast<float>(4 * max(0ll, min(slice, packs - slice * k)));
        const float2 s = __ldcg(&partial[row * blocks + k]);
        q += s.y + c * (s.x - mu) * (s.x - mu);
      }
      q = WarpSum(q);
      if (lane == 0) result = make_float2(mu, rsqrtf(q / static_cast<float>(d) + eps));
    }
    __syncthreads();
    const float2 s = result;
    float4* on = o + row * packs;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const int j = t + 1024 * i;
      if (j < n) {
        const float4 bj = i < kKept ? kept[1024 * N + j] : rest[i < kKept ? 0 : i - kKept];
        __stcs(on + j, Apply4(v[i], kept[j], bj, s.x, s.y));
        if (row + 1 < rows) v[i] = __ldcs(xr + (row + 1) * packs + j);
      }
    }
  }
}

__device__ __forceinline__ float BlockSum(float value, float* lanes) {
  value = WarpSum(value);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
  __syncthreads();
  value = WarpSum(threadIdx.x % 32 < blockDim.x / 32 ? lanes[threadIdx.x % 32] : 0.0f);
  __syncthreads();
  return value;
}

__global__ void any_row(const float* __restrict__ x, const float* __restrict__ weight,
                        const float* __restrict__ bias, float* __restrict__ out, long long rows, long long d,
                        float eps) {
  __shared__ float lanes[32];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* xr = x + row * d;
    float sum = 0.f;
    for (long long i = threadIdx.x; i < d; i += blockDim.x) sum += xr[i];
    const float mean = BlockSum(sum, lanes) / static_cast<float>(d);
    float sq = 0.f;
    for (long long i = threadIdx.x; i < d; i += blockDim.x) sq += (xr[i] - mean) * (xr[i] - mean);
    const float scale = rsqrtf(BlockSum(sq, lanes) / static_cast<float>(d) + eps);
    for (long long i = threadIdx.x; i < d; i += blockDim.x)
      out[row * d + i] = (xr[i] - mean) * scale * weight[i] + bias[i];
  }
}
