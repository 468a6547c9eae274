// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// layernorm that reads every row from memory once, whatever its length: in a block's registers; rows that are no whole
// number of vectors in chunks of FLAT rows, which are; or, for rows longer than an SM's shared memory, spread over the
// shared memory of GROUP SMs as in softmax.cu. The longest rows go in pairs, one of them in registers: then weights and
// biases, which are as long, are read half as often. The variance is about the mean: parts are joined by count, mean and
// sum of squares about the mean (Chan, Golub and LeVeque 1979).
/*hone
constraints = ["RING_BLOCK * PIECES * 16 <= 229376"]

[tune]
BLOCK = [256, 128, 512]
RING_BLOCK = [512, 256]
PIECES = [28, 14, 56]
GROUP = [8, 44, 12, 4]
WIDE = [132, 66]
FLAT = [4, 8]
FLAT_BLOCK = [128, 256]

[[launch]]
kernel = "layernorm_block<4, 1>"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 == 0 && d / 4 <= BLOCK"

[[launch]]
kernel = "layernorm_block<4, 4>"
grid   = ["min(rows, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 == 0 && d / 4 <= 4 * BLOCK"

[[launch]]
kernel = "layernorm_block<4, 8>"
grid   = ["min(rows, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 == 0 && d / 4 <= 8 * BLOCK"

[[launch]]
kernel = "layernorm_flat<12, FLAT>"
grid   = ["ceil_div(rows, FLAT)"]
block  = ["FLAT_BLOCK"]
shared = "ceil_div(FLAT * d, 4) * 16"
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 != 0 && d <= 384"

[[launch]]
kernel = "layernorm_flat<36, FLAT>"
grid   = ["ceil_div(rows, FLAT)"]
block  = ["FLAT_BLOCK"]
shared = "ceil_div(FLAT * d, 4) * 16"
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 != 0 && d <= 1152"

[[launch]]
kernel = "layernorm_block<1, 5>"
grid   = ["min(rows, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 != 0 && d <= 5 * BLOCK"

[[launch]]
kernel = "layernorm_ring<RING_BLOCK, PIECES, GROUP>"
grid   = ["min(rows, sm_count / GROUP) * GROUP"]
block  = ["RING_BLOCK"]
shared = "RING_BLOCK * PIECES * 16"
args   = ["x", "weight", "bias", "out", "partials", "arrivals", "rows:i64", "d / 4:i32", "eps:f32"]
when   = "d % 4 == 0 && rows > 0 && sm_count >= GROUP && ceil_div(ceil_div(d / 4, GROUP), RING_BLOCK) <= PIECES"
cooperative = true

[[launch]]
kernel = "layernorm_pairs<RING_BLOCK, PIECES, 8192 / RING_BLOCK, WIDE>"
grid   = ["min(ceil_div(rows, 2), sm_count / WIDE) * WIDE"]
block  = ["RING_BLOCK"]
shared = "RING_BLOCK * PIECES * 16"
args   = ["x", "weight", "bias", "out", "partials", "arrivals", "rows:i64", "d / 4:i32", "eps:f32"]
when   = "d % 4 == 0 && rows > 1 && sm_count >= WIDE && ceil_div(ceil_div(d / 4, WIDE), RING_BLOCK) <= min(8192 / RING_BLOCK, PIECES - 1)"
cooperative = true

[[launch]]
kernel = "layernorm_ring<RING_BLOCK, PIECES, WIDE>"
grid   = ["min(rows, sm_count / WIDE) * WIDE"]
block  = ["RING_BLOCK"]
shared = "RING_BLOCK * PIECES * 16"
args   = ["x", "weight", "bias", "out", "partials", "arrivals", "rows:i64", "d / 4:i32", "eps:f32"]
when   = "d % 4 == 0 && rows > 0 && sm_count >= WIDE && ceil_div(ceil_div(d / 4, WIDE), RING_BLOCK) <= PIECES"
cooperative = true

[[launch]]
kernel = "layernorm_two_passes"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["1024"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]

[[workspace]]
name  = "partials"
bytes = "sm_count * 4 * 16"

[[workspace]]
name  = "arrivals"
bytes = "sm_count * 128"
zero  = true
*/
#include <cuda_pipeline_primitives.h>

namespace {

constexpr unsigned kWarp = 0xffffffffu;

// Of the numbers seen so far: how many, their mean, and the sum of their squared distances from it.
struct Moments {
  float count = 0.0f;
  float mean = 0.0f;
  float squares = 0.0f;
};

__device__ __forceinline__ Moments Join(Moments a, Moments b) {
  Moments both;
  both.count = a.count + b.count;
  const float share = both.count > 0.0f ? __fdividef(b.count, both.count) : 0.0f;
  const float apart = b.mean - a.mean;
  both.mean = a.mean + apart * share;
  both.squares = a.squares + b.squares + apart * apart * a.count * share;
  return both;
}

__device__ __forceinline__ Moments Of(float4 v) {
  Moments m;
  m.count = 4.0f;
  m.mean = 0.25f * ((v.x + v.y) + (v.z + v.w));
  const float a = v.x - m.mean, b = v.y - m.mean, c = v.z - m.mean, e = v.w - m.mean;
  m.squares = (a * a + b * b) + (c * c + e * e);
  return m;
}

__device__ __forceinline__ Moments WarpJoin(Moments mine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    Moments other;
    other.count = __shfl_xor_sync(kWarp, mine.count, offset);
    other.mean = __shfl_xor_sync(kWarp, mine.mean, offset);
    other.squares = __shfl_xor_sync(kWarp, mine.squares, offset);
    mine = Join(mine, other);
  }
  return mine;
}

// In every thread. `lanes` has 96 floats; the block is whole warps.
__device__ __forceinline__ Moments BlockJoin(Moments mine, float* lanes) {
  mine = WarpJoin(mine);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) {
    lanes[warp] = mine.count;
    lanes[32 + warp] = mine.mean;
    lanes[64 + warp] = mine.squares;
  }
  __syncthreads();
  Moments all;
  if (lane < blockDim.x / 32) {
    all.count = lanes[lane];
    all.mean = lanes[32 + lane];
    all.squares = lanes[64 + lane];
  }
  all = WarpJoin(all);
  __syncthreads();  // `lanes` may be used again
  return all;
}

__device__ __forceinline__ float BlockSum(float value, float* lanes) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kWarp, value, offset);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? lanes[threadIdx.x % 32] : 0.0f;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kWarp, value, offset);
  __syncthreads();
  return value;
}

__device__ __forceinline__ float4 Normalized(float4 v, float mean, float scale, float4 w, float4 b) {
  return make_float4((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y,
                     (v.z - mean) * scale * w.z + b.z, (v.w - mean) * scale * w.w + b.w);
}

template <int kNewest>
__device__ __forceinline__ void WaitForAllButExactly() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}
// The instruction takes a constant: a multiple of four that is not more.
__device__ __forceinline__ void WaitForAllBut(int newest) {
  switch (newest > 0 ? newest / 4 : 0) {
    case 0: WaitForAllButExactly<0>(); break;
    case 1: WaitForAllButExactly<4>(); break;
    case 2: WaitForAllButExactly<8>(); break;
    case 3: WaitForAllButExactly<12>(); break;
    case 4: WaitForAllButExactly<16>(); break;
    case 5: WaitForAllButExactly<20>(); break;
    default: WaitForAllButExactly<24>(); break;
  }
}

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

}  // namespace

// A block a row, which stays in registers; d is a multiple of kWidth and d / kWidth <= kEach * blockDim.x.
template <int kWidth, int kEach>
__global__ void layernorm_block(const float* __restrict__ x, const float* __restrict__ weight,
                                const float* __restrict__ bias, float* __restrict__ out, long long rows, int d,
                                float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ float lanes[32];
  const int vectors = d / kWidth;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const Vector* from = reinterpret_cast<const Vector*>(x + row * d);
    Vector* to = reinterpret_cast<Vector*>(out + row * d);
    Vector held[kEach];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vectors) {
        held[i] = __ldcs(from + at);
        const float* v = reinterpret_cast<const float*>(&held[i]);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) sum += v[j];
      }
    }
    const float mean = BlockSum(sum, lanes) / static_cast<float>(d);
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (threadIdx.x + i * blockDim.x < vectors) {
        const float* v = reinterpret_cast<const float*>(&held[i]);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) squares += (v[j] - mean) * (v[j] - mean);
      }
    }
    const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vectors) {
        const Vector weights = __ldg(reinterpret_cast<const Vector*>(weight) + at);
        const Vector biases = __ldg(reinterpret_cast<const Vector*>(bias) + at);
        const float* v = reinterpret_cast<const float*>(&held[i]);
        const float* w = reinterpret_cast<const float*>(&weights);
        const float* b = reinterpret_cast<const float*>(&biases);
        Vector result;
        float* r = reinterpret_cast<float*>(&result);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) r[j] = (v[j] - mean) * scale * w[j] + b[j];
        __stcs(to + at, result);
      }
    }
  }
}

// kRows rows a block, a multiple of four so that they are whole vectors together; d <= 32 * kEach. A warp a row.
template <int kEach, int kRows>
__global__ void layernorm_flat(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ out, long long rows, int d,
                               float eps) {
  extern __shared__ float4 chunk[];
  const long long first = static_cast<long long>(blockIdx.x) * kRows;
  const int here = static_cast<int>(min(static_cast<long long>(kRows), rows - first));
  const int elements = here * d, vectors = elements / 4;
  const float* from = x + first * d;
  float* to = out + first * d;
  float* flat = reinterpret_cast<float*>(chunk);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), lane = thread % 32;
  for (int i = thread; i < vectors; i += threads) {
    __pipeline_memcpy_async(chunk + i, reinterpret_cast<const float4*>(from) + i, sizeof(float4));
  }
  __pipeline_commit();
  if (thread < elements % 4) flat[vectors * 4 + thread] = from[vectors * 4 + thread];
  WaitForAllButExactly<0>();
  __syncthreads();
  for (int row = thread / 32; row < here; row += threads / 32) {
    float* line = flat + row * d;
    float v[kEach];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      v[i] = lane + 32 * i < d ? line[lane + 32 * i] : 0.0f;
      sum += v[i];
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kWarp, sum, offset);
    const float mean = sum / static_cast<float>(d);
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      v[i] -= mean;
      if (lane + 32 * i < d) squares += v[i] * v[i];
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(kWarp, squares, offset);
    const float scale = rsqrtf(squares / static_cast<float>(d) + eps);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = lane + 32 * i;
      if (at < d) line[at] = v[i] * scale * __ldg(weight + at) + __ldg(bias + at);
    }
  }
  __syncthreads();
  for (int i = thread; i < vectors; i += threads) __stcs(reinterpret_cast<float4*>(to) + i, chunk[i]);
  if (thread < elements % 4) to[vectors * 4 + thread] = flat[vectors * 4 + thread];
}

// kGroup blocks a row; a thread's share of a slice is at most kPieces vectors. All blocks are resident: cooperative.
//   partials [groups][2][kGroup] of Moments, arrivals [groups * 32]: two counters a group, zero before and after
template <int kBlock, int kPieces, int kGroup>
__global__ void __launch_bounds__(kBlock, 1)
    layernorm_ring(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                   float* __restrict__ out, float4* partials, unsigned* arrivals, long long rows, int vectors,
                   float eps) {
  extern __shared__ float4 ring[];  // [kPieces][kBlock]
  __shared__ float lanes[96];
  const int groups = gridDim.x / kGroup;
  const int group = blockIdx.x / kGroup, member = blockIdx.x % kGroup;
  const int slice = (vectors + kGroup - 1) / kGroup;
  const int begin = member * slice;
  const int count = min(slice, vectors - begin);     // may be negative
  const int pieces = (slice + kBlock - 1) / kBlock;  // of a thread, the same in every block
  float4* mine_in_ring = ring + threadIdx.x;
  float4* group_partials = partials + group * 2 * kGroup;
  volatile unsigned* arrived = arrivals + group * 32;

  // What is copied next: piece `next_piece` of row `next_row` into slot `next_slot`. Each step commits, copy or not, so
  // that "all but the newest n" names a piece.
  long long next_row = group;
  int next_piece = 0, next_slot = 0;
  const auto copy_next = [&] {
    const int at = next_piece * kBlock + static_cast<int>(threadIdx.x);
    if (next_row < rows && at < count) {
      const float4* from = reinterpret_cast<const float4*>(x) + next_row * vectors + begin + at;
      __pipeline_memcpy_async(mine_in_ring + next_slot * kBlock, from, sizeof(float4));
    }
    __pipeline_commit();
    next_slot = next_slot + 1 == kPieces ? 0 : next_slot + 1;
    if (++next_piece == pieces) {
      next_piece = 0;
      next_row += groups;
    }
  };
  for (int i = 0; i < kPieces; ++i) copy_next();

  int first_slot = 0;  // of the row at hand
  unsigned round = 0;
  for (long long row = group; row < rows; row += groups, ++round) {
    Moments mine;
    int slot = first_slot;
#pragma unroll
    for (int j = 0; j < kPieces; ++j) {
      if (j >= pieces) break;
      if (j % 4 == 0) WaitForAllBut(kPieces - 4 - j);
      if (j * kBlock + static_cast<int>(threadIdx.x) < count) mine = Join(mine, Of(mine_in_ring[slot * kBlock]));
      slot = slot + 1 == kPieces ? 0 : slot + 1;
    }
    Moments all = BlockJoin(mine, lanes);

    if constexpr (kGroup > 1) {
      float4* now = group_partials + (round & 1) * kGroup;
      if (threadIdx.x == 0) {
        now[member] = make_float4(all.count, all.mean, all.squares, 0.0f);
        __threadfence();
        atomicAdd(const_cast<unsigned*>(arrived), 1u);
        while (*arrived < (round + 1) * kGroup) {
        }
        __threadfence();
      }
      __syncthreads();
      Moments part;
      for (int i = threadIdx.x % 32; i < kGroup; i += 32) {
        const float4 other = __ldcg(now + i);
        part = Join(part, Moments{other.x, other.y, other.z});
      }
      all = WarpJoin(part);
    }

    const float scale = rsqrtf(all.squares / all.count + eps);
    const float4* weights = reinterpret_cast<const float4*>(weight) + begin;
    const float4* biases = reinterpret_cast<const float4*>(bias) + begin;
    float4* to = reinterpret_cast<float4*>(out) + row * vectors + begin;
#pragma unroll 4
    for (int j = 0; j < pieces; ++j) {
      const int at = j * kBlock + static_cast<int>(threadIdx.x);
      if (at < count) {
        __stcs(to + at, Normalized(mine_in_ring[first_slot * kBlock], all.mean, scale, __ldg(weights + at),
                                   __ldg(biases + at)));
      }
      first_slot = first_slot + 1 == kPieces ? 0 : first_slot + 1;
      copy_next();  // into the slot just read
    }
  }

  if constexpr (kGroup > 1) {
    // The last to leave puts the counters back.
    if (threadIdx.x == 0) {
      unsigned* left = arrivals + group * 32 + 1;
      if (atomicAdd(left, 1u) == kGroup - 1) {
        *arrived = 0;
        *left = 0;
      }
    }
  }
}

// kGroup blocks for two rows at a time; a thread's share of a slice is at most kEach < kPieces vectors. The first row's
// slice moves from the ring into registers, the second stays in the ring. All blocks are resident: cooperative.
//   partials [groups][2][kGroup][2] of Moments, arrivals [groups * 32]: two counters a group, zero before and after
template <int kBlock, int kPieces, int kEach, int kGroup>
__global__ void __launch_bounds__(kBlock, 1)
    layernorm_pairs(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                    float* __restrict__ out, float4* partials, unsigned* arrivals, long long rows, int vectors,
                    float eps) {
  constexpr int kStep = 2;  // weights and biases under way, in vectors
  static_assert(kEach % kStep == 0, "whole steps");
  extern __shared__ float4 ring[];  // [kPieces][kBlock]
  __shared__ float lanes[96];
  const int groups = gridDim.x / kGroup;
  const int group = blockIdx.x / kGroup, member = blockIdx.x % kGroup;
  const int slice = (vectors + kGroup - 1) / kGroup;
  const int begin = member * slice;
  const int count = min(slice, vectors - begin);     // may be negative
  const int pieces = (slice + kBlock - 1) / kBlock;  // of a thread, the same in every block
  const int thread = static_cast<int>(threadIdx.x);
  float4* mine_in_ring = ring + thread;
  float4* group_partials = partials + group * 4 * kGroup;
  volatile unsigned* arrived = arrivals + group * 32;

  long long next_row = 2 * group;
  int next_piece = 0, next_slot = 0;
  const auto copy_next = [&] {
    const int at = next_piece * kBlock + thread;
    if (next_row < rows && at < count) {
      const float4* from = reinterpret_cast<const float4*>(x) + next_row * vectors + begin + at;
      __pipeline_memcpy_async(mine_in_ring + next_slot * kBlock, from, sizeof(float4));
    }
    __pipeline_commit();
    next_slot = next_slot + 1 == kPieces ? 0 : next_slot + 1;
    if (++next_piece == pieces) {
      next_piece = 0;
      next_row += next_row % 2 == 0 ? 1 : 2 * groups - 1;
    }
  };
  const auto after = [](int slot) { return slot + 1 == kPieces ? 0 : slot + 1; };
  for (int i = 0; i < kPieces; ++i) copy_next();

  const float4* weights = reinterpret_cast<const float4*>(weight) + begin;
  const float4* biases = reinterpret_cast<const float4*>(bias) + begin;
  int slot = 0;
  unsigned round = 0;
  for (long long row = 2 * group; row < rows; row += 2 * groups, ++round) {
    // Mean and squares about it of this thread's numbers, of either row.
    const int own = thread < count ? (min(count, pieces * kBlock) - thread + kBlock - 1) / kBlock : 0;
    float4 held[kEach];
    Moments first, second;
    first.count = 4.0f * static_cast<float>(own);
    const float share = own > 0 ? 1.0f / first.count : 0.0f;
    const int own_second = row + 1 < rows ? own : 0;
    second.count = 4.0f * static_cast<float>(own_second);
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      held[j] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (j < pieces) {
        WaitForAllButExactly<kPieces - 1>();
        if (j < own) held[j] = mine_in_ring[slot * kBlock];
        first.mean += (held[j].x + held[j].y) + (held[j].z + held[j].w);
        slot = after(slot);
        copy_next();
      }
    }
    first.mean *= share;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      if (j < own) {
        const float a = held[j].x - first.mean, b = held[j].y - first.mean, c = held[j].z - first.mean,
                    e = held[j].w - first.mean;
        first.squares += (a * a + b * b) + (c * c + e * e);
      }
    }
    const int second_slot = slot;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      if (j < pieces) {
        if (j % 4 == 0) WaitForAllBut(kPieces - 4 - j);
        if (j < own_second) {
          const float4 v = mine_in_ring[slot * kBlock];
          second.mean += (v.x + v.y) + (v.z + v.w);
        }
        slot = after(slot);
      }
    }
    second.mean *= share;
    slot = second_slot;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      if (j < own_second) {
        const float4 v = mine_in_ring[slot * kBlock];
        const float a = v.x - second.mean, b = v.y - second.mean, c = v.z - second.mean, e = v.w - second.mean;
        second.squares += (a * a + b * b) + (c * c + e * e);
      }
      slot = after(slot);
    }
    first = BlockJoin(first, lanes);
    second = BlockJoin(second, lanes);

    // The first weights and biases are on their way while the group agrees.
    float4 w[kStep], b[kStep];
    const auto fetch = [&](int from_piece) {
#pragma unroll
      for (int u = 0; u < kStep; ++u) {
        if (from_piece + u < own) {
          w[u] = __ldg(weights + (from_piece + u) * kBlock + thread);
          b[u] = __ldg(biases + (from_piece + u) * kBlock + thread);
        }
      }
    };
    fetch(0);
    float4* now = group_partials + (round & 1) * 2 * kGroup;
    if (thread == 0) {
      now[2 * member] = make_float4(first.count, first.mean, first.squares, 0.0f);
      now[2 * member + 1] = make_float4(second.count, second.mean, second.squares, 0.0f);
      __threadfence();
      atomicAdd(const_cast<unsigned*>(arrived), 1u);
      while (*arrived < (round + 1) * kGroup) {
      }
      __threadfence();
    }
    __syncthreads();
    Moments part_first, part_second;
    for (int i = thread % 32; i < kGroup; i += 32) {
      const float4 one = __ldcg(now + 2 * i), other = __ldcg(now + 2 * i + 1);
      part_first = Join(part_first, Moments{one.x, one.y, one.z});
      part_second = Join(part_second, Moments{other.x, other.y, other.z});
    }
    first = WarpJoin(part_first);
    second = WarpJoin(part_second);
    const float first_scale = rsqrtf(first.squares / first.count + eps);
    const float second_scale = rsqrtf(second.squares / second.count + eps);

    float4* to_first = reinterpret_cast<float4*>(out) + row * vectors + begin;
    float4* to_second = to_first + vectors;
    slot = second_slot;
#pragma unroll
    for (int j = 0; j < kEach; j += kStep) {
      float4 now_w[kStep], now_b[kStep];
#pragma unroll
      for (int u = 0; u < kStep; ++u) {
        now_w[u] = w[u];
        now_b[u] = b[u];
      }
      if (j + kStep < kEach) fetch(j + kStep);
#pragma unroll
      for (int u = 0; u < kStep; ++u) {
        if (j + u < pieces) {
          const int at = (j + u) * kBlock + thread;
          if (j + u < own) {
            __stcs(to_first + at, Normalized(held[j + u], first.mean, first_scale, now_w[u], now_b[u]));
            if (j + u < own_second) {
              __stcs(to_second + at,
                     Normalized(mine_in_ring[slot * kBlock], second.mean, second_scale, now_w[u], now_b[u]));
            }
          }
          slot = after(slot);
          copy_next();  // into the slot just read
        }
      }
    }
  }

  // The last to leave puts the counters back.
  if (thread == 0) {
    unsigned* left = arrivals + group * 32 + 1;
    if (atomicAdd(left, 1u) == kGroup - 1) {
      *arrived = 0;
      *left = 0;
    }
  }
}

// Any d: a block a row, read twice.
__global__ void layernorm_two_passes(const float* __restrict__ x, const float* __restrict__ weight,
                                     const float* __restrict__ bias, float* __restrict__ out, long long rows,
                                     long long d, float eps) {
  __shared__ float lanes[96];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    Moments mine;
    for (long long i = threadIdx.x; i < d; i += blockDim.x) mine = Join(mine, Moments{1.0f, from[i], 0.0f});
    const Moments all = BlockJoin(mine, lanes);
    const float scale = rsqrtf(all.squares / all.count + eps);
    for (long long i = threadIdx.x; i < d; i += blockDim.x) {
      out[row * d + i] = (from[i] - all.mean) * scale * weight[i] + bias[i];
    }
  }
}
