// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/layernorm.cu with the bindings that were fastest on an H200, by shape.
//
// layernorm that reads every row from memory once, whatever its length: in a block's registers; rows that are no whole
// number of vectors in chunks of FLAT rows, which are; or, for rows longer than an SM's shared memory, spread over the
// shared memory of GROUP SMs as in softmax.cu. The longest rows go in pairs, one of them in registers: then weights and
// biases, which are as long, are read half as often, and come through shared memory as the rows do; or, with COLUMNS, rows are
// read twice and weights once. The variance is about the mean: parts are joined by count, mean and sum of squares about the
// mean (Chan, Golub and LeVeque 1979).
/*hone
constraints = ["RING_BLOCK * PIECES * 16 <= 229376"]

[tune]
BLOCK = [256]
HELD = [4]
EARLY = [1]
HINT = [2]
RING_BLOCK = [512]
PIECES = [28]
GROUP = [8]
WIDE = [132]
COLUMNS = [1]
FLAT = [8]
FLAT_BLOCK = [256]

[[launch]]
kernel = "layernorm_block<4, HELD, BLOCK, EARLY, HINT, 1>"
grid   = ["min(rows, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "rows * d <= 4194304 && d == 4 * HELD * BLOCK"
with   = { BLOCK = 64, HELD = 3, EARLY = 1, HINT = 0, RING_BLOCK = 512, PIECES = 28, GROUP = 8, WIDE = 132, COLUMNS = 1, FLAT = 8, FLAT_BLOCK = 256 }

[[launch]]
kernel = "layernorm_block<4, HELD, BLOCK, EARLY, HINT, 1>"
grid   = ["min(rows, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d == 4 * HELD * BLOCK"

[[launch]]
kernel = "layernorm_block<4, 1, BLOCK, EARLY, HINT, 0>"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 == 0 && d / 4 <= BLOCK"

[[launch]]
kernel = "layernorm_block<4, 2, BLOCK, EARLY, HINT, 0>"
grid   = ["min(rows, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 == 0 && d / 4 <= 2 * BLOCK"

[[launch]]
kernel = "layernorm_block<4, 4, BLOCK, EARLY, HINT, 0>"
grid   = ["min(rows, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 == 0 && d / 4 <= 4 * BLOCK"

[[launch]]
kernel = "layernorm_block<4, 8, BLOCK, EARLY, HINT, 0>"
grid   = ["min(rows, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 == 0 && d / 4 <= 8 * BLOCK"

[[launch]]
kernel = "layernorm_flat<12, false, FLAT, FLAT_BLOCK>"
grid   = ["ceil_div(rows, FLAT)"]
block  = ["FLAT_BLOCK"]
shared = "FLAT * d * 4"
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 != 0 && d <= 384"

[[launch]]
kernel = "layernorm_flat<25, true, FLAT, FLAT_BLOCK>"
grid   = ["ceil_div(rows, FLAT)"]
block  = ["FLAT_BLOCK"]
shared = "FLAT * d * 4"
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 != 0 && d > 768 && d <= 800"

[[launch]]
kernel = "layernorm_flat<33, true, FLAT, FLAT_BLOCK>"
grid   = ["ceil_div(rows, FLAT)"]
block  = ["FLAT_BLOCK"]
shared = "FLAT * d * 4"
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 != 0 && d > 1024 && d <= 1056"

[[launch]]
kernel = "layernorm_flat<36, false, FLAT, FLAT_BLOCK>"
grid   = ["ceil_div(rows, FLAT)"]
block  = ["FLAT_BLOCK"]
shared = "FLAT * d * 4"
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "d % 4 != 0 && d <= 1152"

[[launch]]
kernel = "layernorm_block<1, 5, BLOCK, 0, HINT, 0>"
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
kernel = "layernorm_columns"
grid   = ["sm_count"]
block  = ["1024"]
shared = "13 * 1024 * 16"
args   = ["x", "weight", "bias", "out", "column_words", "arrivals", "rows:i32", "d / 4:i32", "eps:f32"]
when   = "COLUMNS == 1 && d % 4 == 0 && rows > 1 && rows <= 16 && d >= 524288 && ceil_div(d / 4, sm_count) <= 8 * 1024"
cooperative = true

[[launch]]
kernel = "layernorm_pairs<WIDE>"
grid   = ["min(ceil_div(rows, 2), sm_count / WIDE) * WIDE"]
block  = ["512"]
shared = "28 * 512 * 16"
args   = ["x", "weight", "bias", "out", "words", "arrivals", "rows:i64", "d / 4:i32", "eps:f32"]
when   = "d % 4 == 0 && rows > 1 && sm_count >= WIDE && ceil_div(d / 4, WIDE) <= 16 * 512"
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
name  = "words"
bytes = "sm_count * 2 * 4 * 8"
zero  = true

[[workspace]]
name  = "column_words"
bytes = "sm_count * 16 * 2 * 8"
zero  = true

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

// The mean first, then the squares about it.
__device__ __forceinline__ Moments WarpJoin(Moments mine) {
  Moments all;
  all.count = mine.count;
  all.mean = mine.count * mine.mean;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    all.count += __shfl_xor_sync(kWarp, all.count, offset);
    all.mean += __shfl_xor_sync(kWarp, all.mean, offset);
  }
  all.mean = all.count > 0.0f ? __fdividef(all.mean, all.count) : 0.0f;
  const float apart = mine.mean - all.mean;
  all.squares = mine.squares + mine.count * apart * apart;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) all.squares += __shfl_xor_sync(kWarp, all.squares, offset);
  return all;
}

// Each of kRows, in every thread. `lanes` has 96 floats for each; the block is whole warps.
template <int kRows>
__device__ __forceinline__ void BlockJoin(Moments (&rows)[kRows], float* lanes) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    rows[r] = WarpJoin(rows[r]);
    if (lane == 0) {
      lanes[96 * r + warp] = rows[r].count;
      lanes[96 * r + 32 + warp] = rows[r].mean;
      lanes[96 * r + 64 + warp] = rows[r].squares;
    }
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    rows[r] = Moments();
    if (lane < blockDim.x / 32) {
      rows[r].count = lanes[96 * r + lane];
      rows[r].mean = lanes[96 * r + 32 + lane];
      rows[r].squares = lanes[96 * r + 64 + lane];
    }
    rows[r] = WarpJoin(rows[r]);
  }
  __syncthreads();  // `lanes` may be used again
}
__device__ __forceinline__ Moments BlockJoin(Moments mine, float* lanes) {
  Moments rows[1] = {mine};
  BlockJoin<1>(rows, lanes);
  return rows[0];
}

__device__ __forceinline__ float4 Normalized(float4 v, float mean, float scale, float4 w, float4 b) {
  return make_float4((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y,
                     (v.z - mean) * scale * w.z + b.z, (v.w - mean) * scale * w.w + b.w);
}

// A number with the round it belongs to: written and read whole.
__device__ __forceinline__ unsigned long long Word(float value, unsigned round) {
  return static_cast<unsigned long long>(__float_as_uint(value)) << 32 | round;
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

// A block a row, which stays in registers; d is a multiple of kWidth and d / kWidth <= kEach * kThreads. Warps tell each other
// once: the mean of what each holds, and the squares about that. kEarly: weights and biases are asked for before that, at the
// price of registers. kWhole: d / kWidth == kEach * kThreads.
template <int kWidth, int kEach, int kThreads, int kEarly, int kHint, int kWhole>
__global__ void __launch_bounds__(kThreads)
    layernorm_block(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                    float* __restrict__ out, long long rows, int d, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  constexpr int kWarps = kThreads / 32;
  constexpr int kGroup = kWarps > 16 ? 32 : kWarps > 8 ? 16 : kWarps > 4 ? 8 : kWarps > 2 ? 4 : kWarps;  // a power of two
  __shared__ float2 lanes[32];
  const int vectors = d / kWidth, thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const auto elements = [&](int warp) {  // that a warp holds
    if (kWhole) return 32.0f * kEach * kWidth;
    int count = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) count += max(0, min(32, vectors - warp * 32 - i * kThreads)) * kWidth;
    return static_cast<float>(count);
  };
  const auto apply = [&](const Vector& held, const Vector& weights, const Vector& biases, float mean, float scale) {
    const float* v = reinterpret_cast<const float*>(&held);
    const float* w = reinterpret_cast<const float*>(&weights);
    const float* b = reinterpret_cast<const float*>(&biases);
    Vector result;
    float* r = reinterpret_cast<float*>(&result);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) r[j] = (v[j] - mean) * scale * w[j] + b[j];
    return result;
  };
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const Vector* from = reinterpret_cast<const Vector*>(x + row * d);
    Vector* to = reinterpret_cast<Vector*>(out + row * d);
    Vector held[kEach], weights[kEach], biases[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = thread + i * kThreads;
      if (kWhole || at < vectors) held[i] = Load<kHint>(from + at);
    }
    if constexpr (kEarly) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int at = thread + i * kThreads;
        if (kWhole || at < vectors) {
          weights[i] = __ldg(reinterpret_cast<const Vector*>(weight) + at);
          biases[i] = __ldg(reinterpret_cast<const Vector*>(bias) + at);
        }
      }
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (kWhole || thread + i * kThreads < vectors) {
        const float* v = reinterpret_cast<const float*>(&held[i]);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) sum += v[j];
      }
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kWarp, sum, offset);
    const float mine = elements(thread / 32);
    float mean = mine > 0.0f ? __fdividef(sum, mine) : 0.0f;  // of the warp
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (kWhole || thread + i * kThreads < vectors) {
        const float* v = reinterpret_cast<const float*>(&held[i]);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) squares += (v[j] - mean) * (v[j] - mean);
      }
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(kWarp, squares, offset);
    if constexpr (kWarps > 1) {
      if (lane == 0) lanes[thread / 32] = make_float2(mean, squares);
      __syncthreads();
      const int warp = lane % kGroup;
      const float count = warp < kWarps ? elements(warp) : 0.0f;
      const float2 told = count > 0.0f ? lanes[warp] : make_float2(0.0f, 0.0f);
      mean = count * told.x;
#pragma unroll
      for (int offset = kGroup / 2; offset > 0; offset /= 2) mean += __shfl_xor_sync(kWarp, mean, offset);
      mean = __fdividef(mean, static_cast<float>(d));
      squares = told.y + count * (told.x - mean) * (told.x - mean);
#pragma unroll
      for (int offset = kGroup / 2; offset > 0; offset /= 2) squares += __shfl_xor_sync(kWarp, squares, offset);
    }
    const float scale = rsqrtf(__fdividef(squares, static_cast<float>(d)) + eps);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = thread + i * kThreads;
      if (kWhole || at < vectors) {
        if constexpr (!kEarly) {
          weights[i] = __ldg(reinterpret_cast<const Vector*>(weight) + at);
          biases[i] = __ldg(reinterpret_cast<const Vector*>(bias) + at);
        }
        Store<kHint>(to + at, apply(held[i], weights[i], biases[i], mean, scale));
      }
    }
    if (row + gridDim.x < rows) __syncthreads();  // `lanes` is used again
  }
}

// kRows rows a block, a multiple of four so that they are whole vectors together. A warp a row; d <= 32 * kEach, and with kFull
// d > 32 * (kEach - 1).
template <int kEach, bool kFull, int kRows, int kThreads>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    layernorm_flat(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                   float* __restrict__ out, long long rows, int d, float eps) {
  extern __shared__ float4 chunk[];
  const long long first = static_cast<long long>(blockIdx.x) * kRows;
  const int here = static_cast<int>(min(static_cast<long long>(kRows), rows - first));
  const int elements = here * d, vectors = elements / 4;
  const float* from = x + first * d;
  float* to = out + first * d;
  float* flat = reinterpret_cast<float*>(chunk);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  for (int i = thread; i < vectors; i += kThreads) {
    __pipeline_memcpy_async(chunk + i, reinterpret_cast<const float4*>(from) + i, sizeof(float4));
  }
  __pipeline_commit();
  if (thread < elements % 4) flat[vectors * 4 + thread] = from[vectors * 4 + thread];
  WaitForAllButExactly<0>();
  __syncthreads();
  const auto within = [&](int i) { return (kFull && i < kEach - 1) || lane + 32 * i < d; };
  for (int row = thread / 32; row < here; row += kThreads / 32) {
    float* line = flat + row * d + lane;
    float v[kEach];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      v[i] = within(i) ? line[32 * i] : 0.0f;
      sum += v[i];
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kWarp, sum, offset);
    const float mean = sum / static_cast<float>(d);
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      v[i] -= mean;
      if (within(i)) squares += v[i] * v[i];
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(kWarp, squares, offset);
    const float scale = rsqrtf(squares / static_cast<float>(d) + eps);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (within(i)) line[32 * i] = v[i] * scale * __ldg(weight + lane + 32 * i) + __ldg(bias + lane + 32 * i);
    }
  }
  __syncthreads();
  for (int i = thread; i < vectors; i += kThreads) __stcs(reinterpret_cast<float4*>(to) + i, chunk[i]);
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

// Few and very long rows: every block has a slice of all rows, reads it for mean and variance, and keeps of the last two rows
// what fits in its shared memory; of two more L2 keeps a part. When all blocks know all rows it goes through its columns again,
// with each weight and bias loaded once. rows <= 16, a slice at most 8 vectors a thread; all blocks resident: cooperative.
//   words [16][blocks][2]: mean and squares of a slice, each with 1; zero before and after, as arrivals [1]
__global__ void __launch_bounds__(1024, 1)
    layernorm_columns(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                      float* __restrict__ out, unsigned long long* all_words, unsigned* arrivals, int rows, int vectors,
                      float eps) {
  constexpr int kBlock = 1024, kEach = 8, kKeptOfSecond = 5, kDeep = 7;
  extern __shared__ float4 kept[];  // [kEach + kKeptOfSecond][kBlock]: of the last row, of the one before
  __shared__ Moments parts[16][32];
  __shared__ float means[16], scales[16];
  const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  const int slice = (vectors + blocks - 1) / blocks;
  const int begin = block * slice, count = min(slice, vectors - begin);  // may be negative
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int own = thread < count ? (count - thread + kBlock - 1) / kBlock : 0;  // vectors of this thread in a slice
  const float4* from = reinterpret_cast<const float4*>(x) + begin + thread;
  float4* to = reinterpret_cast<float4*>(out) + begin + thread;
  volatile unsigned long long* words = all_words;

  for (int row = 0; row < rows; ++row) {
    const float4* line = from + static_cast<long long>(row) * vectors;
    float4 v[kEach];
    Moments mine;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      v[j] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (j < own) v[j] = row >= rows - 4 && row < rows - 2 ? __ldcg(line + j * kBlock) : __ldcs(line + j * kBlock);
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      mine.mean += (v[j].x + v[j].y) + (v[j].z + v[j].w);
      if (j >= own) continue;
      if (row == rows - 1) kept[j * kBlock + thread] = v[j];
      if (row == rows - 2 && j < kKeptOfSecond) kept[(kEach + j) * kBlock + thread] = v[j];
    }
    mine.count = 4.0f * static_cast<float>(own);
    mine.mean = own > 0 ? __fdividef(mine.mean, mine.count) : 0.0f;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const float a = v[j].x - mine.mean, b = v[j].y - mine.mean, c = v[j].z - mine.mean, e = v[j].w - mine.mean;
      if (j < own) mine.squares += (a * a + b * b) + (c * c + e * e);
    }
    mine = WarpJoin(mine);
    if (lane == 0) parts[row][warp] = mine;
  }
  __syncthreads();
  if (warp < rows) {  // a warp a row
    const Moments mine = WarpJoin(parts[warp][lane]);
    if (lane < 2) words[(warp * blocks + block) * 2 + lane] = Word(lane == 0 ? mine.mean : mine.squares, 1);
    // Of all blocks, so far, by this lane: counts, sums, and squares about the mean once that is known.
    float total = 0.0f;
    for (int i = lane; i < blocks; i += 32) {
      const volatile unsigned long long* theirs = words + (warp * blocks + i) * 2;
      unsigned long long word;
      do {
        word = theirs[0];
      } while (static_cast<unsigned>(word) != 1u);
      const int elements = max(0, min(slice, vectors - i * slice)) * 4;
      total += static_cast<float>(elements) * __uint_as_float(static_cast<unsigned>(word >> 32));
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(kWarp, total, offset);
    const float d = 4.0f * static_cast<float>(vectors), mean = total / d;
    float squares = 0.0f;
    for (int i = lane; i < blocks; i += 32) {
      const volatile unsigned long long* theirs = words + (warp * blocks + i) * 2;
      unsigned long long word;
      do {
        word = theirs[1];
      } while (static_cast<unsigned>(word) != 1u);
      const int elements = max(0, min(slice, vectors - i * slice)) * 4;
      const float apart = __uint_as_float(static_cast<unsigned>(theirs[0] >> 32)) - mean;
      squares += __uint_as_float(static_cast<unsigned>(word >> 32)) + static_cast<float>(elements) * apart * apart;
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(kWarp, squares, offset);
    if (lane == 0) {
      means[warp] = mean;
      scales[warp] = rsqrtf(squares / d + eps);
    }
  }
  __syncthreads();

#pragma unroll 1
  for (int j = 0; j < own; ++j) {
    const float4 w = __ldcs(reinterpret_cast<const float4*>(weight) + begin + thread + j * kBlock);
    const float4 b = __ldcs(reinterpret_cast<const float4*>(bias) + begin + thread + j * kBlock);
    const bool second_kept = j < kKeptOfSecond;
    // Rows that are not kept, the last ones read first.
    for (int last = rows - (second_kept ? 2 : 1); last > 0; last -= kDeep) {
      float4 v[kDeep];
#pragma unroll
      for (int u = 0; u < kDeep; ++u) {
        if (u < last) v[u] = __ldcs(from + static_cast<long long>(last - 1 - u) * vectors + j * kBlock);
      }
#pragma unroll
      for (int u = 0; u < kDeep; ++u) {
        const int row = last - 1 - u;
        if (u < last) __stcs(to + static_cast<long long>(row) * vectors + j * kBlock, Normalized(v[u], means[row], scales[row], w, b));
      }
    }
    __stcs(to + static_cast<long long>(rows - 1) * vectors + j * kBlock,
           Normalized(kept[j * kBlock + thread], means[rows - 1], scales[rows - 1], w, b));
    if (second_kept) {
      __stcs(to + static_cast<long long>(rows - 2) * vectors + j * kBlock,
             Normalized(kept[(kEach + j) * kBlock + thread], means[rows - 2], scales[rows - 2], w, b));
    }
  }

  // The last to leave puts the words back.
  __shared__ unsigned left;
  if (thread == 0) left = atomicAdd(arrivals, 1u);
  __syncthreads();
  if (left == static_cast<unsigned>(blocks) - 1) {
    for (int i = thread; i < rows * blocks * 2; i += kBlock) words[i] = 0;
    if (thread == 0) *arrivals = 0;
  }
}

// kGroup blocks for two rows at a time, a slice of at most 16 vectors a thread. The first row's slice is moved into registers as
// it comes, the second's lies in shared memory. All blocks are resident: cooperative.
//
// Shared memory, all of it filled by cp.async and read by the thread that copied: 16 slots for the second row, and a ring of 12
// through which run, for each pair, the first row's 16 pieces and then 16 of weights and 16 of biases in turn. In each step
// of writing results three slots are freed and filled anew. How many copies are newer than the one waited for follows from
// that order alone.
//   words [2][groups][kGroup][4]: mean and squares of both rows, each with its round; zero before and after, as arrivals [groups]
template <int kGroup>
__global__ void __launch_bounds__(512, 1)
    layernorm_pairs(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                    float* __restrict__ out, unsigned long long* all_words, unsigned* arrivals, long long rows,
                    int vectors, float eps) {
  constexpr int kBlock = 512, kEach = 16, kRing = 12;
  static_assert(kGroup <= kBlock, "a thread a member");
  extern __shared__ float4 slots[];  // [kEach + kRing][kBlock]
  __shared__ float lanes[192];
  const int groups = gridDim.x / kGroup;
  const int group = blockIdx.x / kGroup, member = blockIdx.x % kGroup;
  const int slice = (vectors + kGroup - 1) / kGroup;
  const int begin = member * slice;
  const int count = min(slice, vectors - begin);  // may be negative
  const int thread = static_cast<int>(threadIdx.x);
  float4* const second = slots + thread;
  float4* const ring = slots + kEach * kBlock + thread;
  volatile unsigned long long* words = all_words + group * kGroup * 4;

  // Weights and biases should stay in L2, for they are read for every pair; rows should make room.
  unsigned long long once, again;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once));
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(again));
  // Each of these commits, copy or not.
  const auto copy = [&](float4* to, const float* from, long long row, int piece, unsigned long long policy) {
    const int at = piece * kBlock + thread;
    if (row < rows && at < count) {
      asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                       static_cast<unsigned>(__cvta_generic_to_shared(to))),
                   "l"(reinterpret_cast<const float4*>(from) + row * vectors + begin + at), "l"(policy)
                   : "memory");
    }
    __pipeline_commit();
  };
  // What goes through the ring: item 0 to 15 of a pair: the first row; then weight 0, bias 0, weight 1, ...
  int ring_in = 0, ring_out = 0;
  const auto stream = [&](long long row, int item) {
    float4* const to = ring + ring_in * kBlock;
    ring_in = ring_in + 1 == kRing ? 0 : ring_in + 1;
    if (item >= 3 * kEach) {
      copy(to, x, row + 2 * groups, item - 3 * kEach, once);
    } else if (item < kEach) {
      copy(to, x, row, item, once);
    } else if (row >= rows) {
      __pipeline_commit();
    } else {
      copy(to, item % 2 == 0 ? weight : bias, 0, (item - kEach) / 2, again);
    }
  };
  const auto next_of_ring = [&](bool wanted) {
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (wanted) v = ring[ring_out * kBlock];
    ring_out = ring_out + 1 == kRing ? 0 : ring_out + 1;
    return v;
  };

  // As if results of a pair before the first had been written.
  long long row = 2 * group;
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int item = kEach + kRing + 2 * j + u;
      if (item >= 3 * kEach) {
        stream(row - 2 * groups, item);
      } else {
        __pipeline_commit();
      }
    }
    copy(second + j * kBlock, x, row + 1, j, once);
  }

  unsigned round = 0;
  for (; row < rows; row += 2 * groups, ++round) {
    const int own = thread < count ? (count - thread + kBlock - 1) / kBlock : 0;  // vectors of this thread in a slice
    const int own_second = row + 1 < rows ? own : 0;
    const float share = own > 0 ? 0.25f / static_cast<float>(own) : 0.0f;
    Moments both[2];
    Moments &a = both[0], &b = both[1];
    a.count = 4.0f * static_cast<float>(own);
    b.count = 4.0f * static_cast<float>(own_second);
    float4 held[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      // Copied in the steps of the results before, two of three and the second row's after them; from 12 on in this loop.
      WaitForAllBut(j < kRing ? 2 - j % 2 + 3 * (kRing / 2 - 1 - j / 2) + j : kRing - 1);
      held[j] = next_of_ring(j < own);
      a.mean += (held[j].x + held[j].y) + (held[j].z + held[j].w);
      stream(row, kRing + j);
    }
    a.mean *= share;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const float p = held[j].x - a.mean, q = held[j].y - a.mean, r = held[j].z - a.mean, t = held[j].w - a.mean;
      if (j < own) a.squares += (p * p + q * q) + (r * r + t * t);
    }
    WaitForAllButExactly<kEach>();  // the second row's were all copied before the ones of this loop
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      if (j >= own_second) break;
      const float4 v = second[j * kBlock];
      b.mean += (v.x + v.y) + (v.z + v.w);
    }
    b.mean *= share;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      if (j >= own_second) break;
      const float4 v = second[j * kBlock];
      const float p = v.x - b.mean, q = v.y - b.mean, r = v.z - b.mean, t = v.w - b.mean;
      b.squares += (p * p + q * q) + (r * r + t * t);
    }
    BlockJoin<2>(both, lanes);
    volatile unsigned long long* now = words + (round & 1) * static_cast<long long>(groups) * kGroup * 4;
    if (thread < 4) {
      now[member * 4 + thread] = Word(thread < 2 ? (thread == 0 ? a.mean : a.squares) : (thread == 2 ? b.mean : b.squares), round + 1);
    }
    a = b = Moments();
    if (thread < kGroup) {
      const volatile unsigned long long* from = now + thread * 4;
      float value[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        unsigned long long word;
        do {
          word = from[i];
        } while (static_cast<unsigned>(word) != round + 1);
        value[i] = __uint_as_float(static_cast<unsigned>(word >> 32));
      }
      const int theirs = max(0, min(slice, vectors - thread * slice));
      a = Moments{4.0f * static_cast<float>(theirs), value[0], value[1]};
      b = Moments{row + 1 < rows ? a.count : 0.0f, value[2], value[3]};
    }
    BlockJoin<2>(both, lanes);
    const float a_scale = rsqrtf(a.squares / a.count + eps);
    const float b_scale = rsqrtf(b.squares / fmaxf(b.count, 1.0f) + eps);

    float4* to_first = reinterpret_cast<float4*>(out) + row * vectors + begin + thread;
    float4* to_second = to_first + vectors;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      // The first six of either in the loop above, later ones six steps ago.
      WaitForAllBut(j < kRing / 2 ? 10 + j : 3 * (kRing / 2 - 1) + 1);
      const float4 w = next_of_ring(j < own), c = next_of_ring(j < own);
      if (j < own) __stcs(to_first + j * kBlock, Normalized(held[j], a.mean, a_scale, w, c));
      if (j < own_second) __stcs(to_second + j * kBlock, Normalized(second[j * kBlock], b.mean, b_scale, w, c));
      stream(row, kEach + kRing + 2 * j);
      stream(row, kEach + kRing + 2 * j + 1);
      copy(second + j * kBlock, x, row + 2 * groups + 1, j, once);
    }
  }

  // The last to leave puts the words back.
  __syncthreads();
  if (thread < 32) {
    unsigned left = thread == 0 ? atomicAdd(arrivals + group * 32, 1u) : 0;
    left = __shfl_sync(kWarp, left, 0);
    if (left == kGroup - 1) {
      for (int i = thread; i < 2 * kGroup * 4; i += 32) {
        words[i < kGroup * 4 ? i : i - kGroup * 4 + static_cast<long long>(groups) * kGroup * 4] = 0;
      }
      if (thread == 0) arrivals[group * 32] = 0;
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
