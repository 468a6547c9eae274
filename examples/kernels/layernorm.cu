// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// layernorm that reads every row from memory once, whatever its length: in a block's registers, or, for rows longer
// than an SM's shared memory, spread over the shared memory of GROUP SMs as in softmax.cu. The variance is about the
// mean: parts are joined by count, mean and sum of squares about the mean (Chan, Golub and LeVeque 1979).
/*hone
constraints = ["RING_BLOCK * PIECES * 16 <= 229376"]

[tune]
BLOCK = [256, 128, 512]
RING_BLOCK = [512, 256]
PIECES = [26, 13, 52]
GROUP = [8, 44, 12, 4]
WIDE = [132, 66]

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
bytes = "sm_count * 2 * 16"

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
__device__ __forceinline__ void WaitForAllBut() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
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
      if (j % 4 == 0) {  // the instruction takes a constant
        switch (j / 4) {
          case 0: WaitForAllBut<(kPieces > 4 ? kPieces - 4 : 0)>(); break;
          case 1: WaitForAllBut<(kPieces > 8 ? kPieces - 8 : 0)>(); break;
          case 2: WaitForAllBut<(kPieces > 12 ? kPieces - 12 : 0)>(); break;
          case 3: WaitForAllBut<(kPieces > 16 ? kPieces - 16 : 0)>(); break;
          case 4: WaitForAllBut<(kPieces > 20 ? kPieces - 20 : 0)>(); break;
          case 5: WaitForAllBut<(kPieces > 24 ? kPieces - 24 : 0)>(); break;
          default: WaitForAllBut<0>(); break;
        }
      }
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
