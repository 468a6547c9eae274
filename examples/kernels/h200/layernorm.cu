// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/layernorm.cu with the bindings that were fastest on an H200, by shape.
//
// layernorm that reads every row from memory once, whatever its length: in a block's registers; rows that are no whole
// number of vectors in chunks of FLAT rows, which are; or, for rows longer than an SM's shared memory, spread over the
// shared memory of GROUP SMs. Where a row is on all SMs, weights and biases, which are as long as a row, stay on the chip for all
// rows. The variance is about the mean: parts are joined by count, mean and sum of squares about the mean (Chan, Golub and
// LeVeque 1979).
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
FLAT = [8]
FLAT_BLOCK = [256]

[[launch]]
kernel = "layernorm_block<4, HELD, BLOCK, EARLY, HINT, 1>"
grid   = ["min(rows, 2147483647)"]
block  = ["BLOCK"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i32", "eps:f32"]
when   = "rows * d <= 4194304 && d == 4 * HELD * BLOCK"
with   = { BLOCK = 64, HELD = 3, EARLY = 1, HINT = 0, RING_BLOCK = 512, PIECES = 28, GROUP = 8, WIDE = 132, FLAT = 8, FLAT_BLOCK = 256 }

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
kernel = "layernorm_dealt<17, 2, 2, 2>"
grid   = ["sm_count"]
block  = ["256"]
shared = "56 * 256 * 16"
args   = ["x", "weight", "bias", "out", "words", "arrivals", "rows:i32", "d / 4:i32", "eps:f32"]
when   = "d % 4 == 0 && rows > 1 && rows < 2147483647 && sm_count <= 256 && d / 4 >= sm_count * 31 * 256 && d / 4 <= sm_count * (31 * 256 + 32)"
cooperative = true

[[launch]]
kernel = "layernorm_held<16, 2>"
grid   = ["sm_count"]
block  = ["256"]
shared = "57 * 250 * 16"
args   = ["x", "weight", "bias", "out", "words", "arrivals", "rows:i32", "d / 4:i32", "eps:f32"]
when   = "d % 4 == 0 && rows > 1 && rows < 2147483647 && sm_count <= 256 && d / 4 >= sm_count * 2048 && ceil_div(d / 4, sm_count * 8) * 8 <= 32 * 250"
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
bytes = "sm_count * 2 * 16 * 8"
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

// Eight warps' words in shared memory, count, mean and squares, by every thread for itself.
__device__ __forceinline__ Moments JoinOfEight(const float4* parts) {
  float4 part[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) part[i] = parts[i];
  Moments all;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    all.count += part[i].x;
    all.mean += part[i].x * part[i].y;
  }
  all.mean = all.count > 0.0f ? __fdividef(all.mean, all.count) : 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float apart = part[i].y - all.mean;
    all.squares += part[i].z + part[i].x * apart * apart;
  }
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

// HINT 1: what is copied is the first to leave L2, as what is stored always is but with HINT 2: then what is copied is the last
// to leave, and L2 gives what is stored to memory sooner.
template <int kHint>
__device__ __forceinline__ unsigned long long CopyPolicy() {
  unsigned long long policy = 0;
  if constexpr (kHint == 1) asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (kHint == 2) asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
template <int kHint>
__device__ __forceinline__ void CopyAsync(float4* to, const float4* from, unsigned long long policy) {
  if constexpr (kHint == 0) {
    __pipeline_memcpy_async(to, from, sizeof(float4));
  } else {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "l"(policy)
                 : "memory");
  }
}

template <int kHint>
__device__ __forceinline__ void Put(float4* to, float4 value) {
  if constexpr (kHint == 2) {
    *to = value;
  } else {
    __stcs(to, value);
  }
}

// Loaded here and nowhere else: the compiler must not load it again to save a register.
__device__ __forceinline__ float4 Once(const float4* from) {
  float4 v;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from));
  return v;
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

// Several rows that all SMs share: a block has the same columns of every row, and keeps their weights and biases for all
// of them: weights and kInRegisters pieces of biases in registers, the other biases in shared memory beside a ring of row
// pieces. Each step takes a piece of the next row for its statistics, writes a piece of the row at hand and copies into its
// slot, so that nothing but a row's two numbers is awaited between rows. A slice is at most kPieces pieces of kWidth vectors;
// all blocks resident, no more of them than threads: cooperative.
//   words [2][blocks][2]: mean and squares of a slice, each with its round; zero before and after, as arrivals [1]
template <int kInRegisters, int kHint>
__global__ void __launch_bounds__(256, 1)
    layernorm_held(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                   float* __restrict__ out, unsigned long long* all_words, unsigned* arrivals, int rows, int vectors,
                   float eps) {
  constexpr int kPieces = 32, kWidth = 250, kInShared = kPieces - kInRegisters, kRing = 25 + kInRegisters;
  constexpr int kMore = kRing - kPieces;  // of the next row under way while results are written
  static_assert(kMore > 0 && kMore <= kPieces);
  extern __shared__ float4 slots[];  // [kRing][kWidth]; then of biases [kInShared][kWidth]
  __shared__ float lanes[96], lanes_of_all[96];
  const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  const int slice = (vectors + 8 * blocks - 1) / (8 * blocks) * 8;                // whole lines
  const int begin = block * slice, count = min(slice, vectors - begin);           // may be negative
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int own = thread < kWidth && thread < count ? (count - thread + kWidth - 1) / kWidth : 0;  // pieces
  float4* const ring = slots + thread;
  float4* const kept = slots + kRing * kWidth + thread;
  const float4* from = reinterpret_cast<const float4*>(x) + begin + thread;
  float4* to = reinterpret_cast<float4*>(out) + begin + thread;

  const unsigned long long policy = CopyPolicy<kHint>();
  // Each of these commits, copy or not.
  int in = 0;  // slot
  const auto copy_next = [&](int row, int piece) {
    if (row < rows && piece < own) {
      CopyAsync<kHint>(ring + in * kWidth, from + static_cast<long long>(row) * vectors + piece * kWidth, policy);
    }
    __pipeline_commit();
    in = in + 1 == kRing ? 0 : in + 1;
  };
#pragma unroll
  for (int j = 0; j < kPieces; ++j) copy_next(0, j);
#pragma unroll
  for (int j = 0; j < kInShared; ++j) {
    if (kInRegisters + j < own) {
      __pipeline_memcpy_async(kept + j * kWidth, reinterpret_cast<const float4*>(bias) + begin + thread + (kInRegisters + j) * kWidth,
                              sizeof(float4));
    }
  }
  __pipeline_commit();
#pragma unroll
  for (int j = 0; j < kMore; ++j) copy_next(1, j);
  float4 weights[kPieces], biases[kInRegisters];
#pragma unroll
  for (int j = 0; j < kPieces; ++j) {
    if (j < own) weights[j] = Once(reinterpret_cast<const float4*>(weight) + begin + thread + j * kWidth);
  }
#pragma unroll
  for (int j = 0; j < kInRegisters; ++j) {
    if (j < own) biases[j] = Once(reinterpret_cast<const float4*>(bias) + begin + thread + j * kWidth);
  }

  // Sums about the first number seen, which is near the mean or far from it with the variance.
  float about = 0.0f, sum = 0.0f, squares = 0.0f;
  int looked_at = 0;  // slot
  const auto look_at = [&](int row, int piece) {
    if (row < rows && piece < own) {
      const float4 v = ring[looked_at * kWidth];
      if (piece == 0) about = v.x;
      const float a = v.x - about, b = v.y - about, c = v.z - about, e = v.w - about;
      sum += (a + b) + (c + e);
      squares += (a * a + b * b) + (c * c + e * e);
    }
    looked_at = looked_at + 1 == kRing ? 0 : looked_at + 1;
  };
#pragma unroll
  for (int j = 0; j < kPieces; ++j) {
    WaitForAllBut(kPieces - j + kMore);
    look_at(0, j);
  }

  int out_slot = 0;
#pragma unroll 1
  for (int row = 0; row < rows; ++row) {
    Moments mine;
    mine.count = 4.0f * static_cast<float>(own);
    if (own > 0) {
      const float apart = __fdividef(sum, mine.count);
      mine.mean = about + apart;
      mine.squares = fmaxf(squares - sum * apart, 0.0f);
    }
    sum = squares = 0.0f;
    mine = WarpJoin(mine);
    if (lane == 0) {
      lanes[warp] = mine.count;
      lanes[32 + warp] = mine.mean;
      lanes[64 + warp] = mine.squares;
    }
    __syncthreads();
    volatile unsigned long long* now = all_words + (row & 1) * blocks * 2;
    if (warp == 0) {
      Moments part;
      if (lane < 8) part = Moments{lanes[lane], lanes[32 + lane], lanes[64 + lane]};
      part = WarpJoin(part);
      if (lane < 2) now[block * 2 + lane] = Word(lane == 0 ? part.mean : part.squares, row + 1);
    }
    Moments all;
    if (thread < blocks) {
      unsigned long long mean_word, squares_word;
      do {
        mean_word = now[thread * 2];
        squares_word = now[thread * 2 + 1];
      } while (static_cast<unsigned>(mean_word) != row + 1 || static_cast<unsigned>(squares_word) != row + 1);
      all.count = 4.0f * static_cast<float>(max(0, min(slice, vectors - thread * slice)));
      all.mean = __uint_as_float(static_cast<unsigned>(mean_word >> 32));
      all.squares = __uint_as_float(static_cast<unsigned>(squares_word >> 32));
    }
    all = WarpJoin(all);
    if (lane == 0) {
      lanes_of_all[warp] = all.count;
      lanes_of_all[32 + warp] = all.mean;
      lanes_of_all[64 + warp] = all.squares;
    }
    __syncthreads();
    all = Moments();
    if (lane < 8) all = Moments{lanes_of_all[lane], lanes_of_all[32 + lane], lanes_of_all[64 + lane]};
    all = WarpJoin(all);
    const float mean = all.mean, scale = rsqrtf(all.squares / all.count + eps);

    float4* const line = to + static_cast<long long>(row) * vectors;
#pragma unroll
    for (int j = 0; j < kPieces; ++j) {
      WaitForAllButExactly<kMore - 1>();
      look_at(row + 1, j);
      if (j < own) {
        const float4 b = j < kInRegisters ? biases[j < kInRegisters ? j : 0] : kept[(j - kInRegisters) * kWidth];
        Put<kHint>(line + j * kWidth, Normalized(ring[out_slot * kWidth], mean, scale, weights[j], b));
      }
      out_slot = out_slot + 1 == kRing ? 0 : out_slot + 1;
      copy_next(row + 1 + (kMore + j) / kPieces, (kMore + j) % kPieces);  // into the slot just read
    }
  }

  // The last to leave puts the words back.
  __shared__ unsigned left;
  if (thread == 0) left = atomicAdd(arrivals, 1u);
  __syncthreads();
  if (left == static_cast<unsigned>(blocks) - 1) {
    for (int i = thread; i < 2 * blocks * 2; i += 256) all_words[i] = 0;
    if (thread == 0) *arrivals = 0;
  }
}

// The same for rows of 31 rounds of pieces and a little more. Piece p of a round goes to block p, so that all SMs read and write
// side by side, and no step asks whether its piece is there; of what remains a block has at most kMostTail vectors, beside the
// last round. Statistics are kEarly rounds ahead of what is written. What a block does once a row is kept short, for meanwhile
// it copies nothing: the last warp alone waits for the others' sums and makes them known, and words lie a line apart. A row is
// done when the last warp of the last SM has its pieces, so a block's warps wait for each other every kTogether rounds. Nothing is
// loaded from global or local memory while copies are under way but what is waited for anyway: a load returns after all copies
// asked for before it.
//   words [2][blocks][16], of which two are used: as above; arrivals as above
template <int kInRegisters, int kEarly, int kTogether, int kHint>
__global__ void __launch_bounds__(256, 1)
    layernorm_dealt(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                    float* __restrict__ out, unsigned long long* all_words, unsigned* arrivals, int rows, int vectors,
                    float eps) {
  constexpr int kRounds = 31, kWidth = 256, kMostTail = 32, kInShared = kRounds - kInRegisters, kRing = 56 - kInShared;
  constexpr int kFlight = kRing - kRounds - kEarly;  // pieces on their way while one is looked at
  constexpr int kWords = 16;                         // from a block's to the next one's
  static_assert(kFlight > 0 && kRing <= 2 * kRounds);  // a row's tail is written before the next but one is copied
  extern __shared__ float4 slots[];                    // [kRing][kWidth]; then of biases [kInShared][kWidth]
  __shared__ float4 of_warps[8], of_blocks[2][8];
  __shared__ float4 tails[2][kMostTail], tail_weights[kMostTail], tail_biases[kMostTail];
  const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int round = blocks * kWidth;  // vectors
  const int remaining = vectors - kRounds * round, share_of_tail = (remaining + 8 * blocks - 1) / (8 * blocks) * 8;
  const int tail_begin = block * share_of_tail, tail = max(0, min(share_of_tail, remaining - tail_begin));
  const bool more = thread < tail;
  const unsigned to_tail = kRounds * round + tail_begin - block * kWidth;  // from a row's first piece
  float4* const ring = slots + thread;
  float4* const kept = slots + kRing * kWidth + thread;
  const float4* from = reinterpret_cast<const float4*>(x) + block * kWidth + thread;
  const float4* weights_from = reinterpret_cast<const float4*>(weight) + block * kWidth + thread;
  const float4* biases_from = reinterpret_cast<const float4*>(bias) + block * kWidth + thread;
  float4* line = reinterpret_cast<float4*>(out) + block * kWidth + thread;

  const unsigned long long policy = CopyPolicy<kHint>();
  // Each commits, copy or not.
  const auto copy = [&](int slot, const float4* row, int piece, int number, bool there) {
    if (there) {
      CopyAsync<kHint>(ring + slot, row + piece * round, policy);
      if (piece == kRounds - 1 && more) CopyAsync<kHint>(&tails[number & 1][thread], row + to_tail, policy);
    }
    __pipeline_commit();
  };
#pragma unroll
  for (int j = 0; j < kRounds; ++j) copy(j * kWidth, from, j, 0, true);
#pragma unroll
  for (int j = kInRegisters; j < kRounds; ++j) {
    __pipeline_memcpy_async(kept + (j - kInRegisters) * kWidth, biases_from + j * round, sizeof(float4));
  }
#pragma unroll
  for (int j = kRounds; j < kRing; ++j) copy(j * kWidth, from + vectors, j - kRounds, 1, true);  // rows > 1

  // Sums about the first number seen, which is near the mean or far from it with the variance.
  float about = 0.0f, sum = 0.0f, squares = 0.0f;
  const auto add = [&](float4 v) {
    const float a = v.x - about, b = v.y - about, c = v.z - about, e = v.w - about;
    sum += (a + b) + (c + e);
    squares += (a * a + b * b) + (c * c + e * e);
  };
  const auto look_at = [&](float4 v, int piece, int number) {
    if (piece == 0) {
      about = v.x;
      sum = squares = 0.0f;
    }
    add(v);
    if (piece == kRounds - 1 && more) add(tails[number & 1][thread]);
  };
  const auto publish = [&](int row) {
    Moments mine;
    mine.count = more ? 4.0f * (kRounds + 1) : 4.0f * kRounds;
    const float apart = __fdividef(sum, mine.count);
    mine.mean = about + apart;
    mine.squares = fmaxf(squares - sum * apart, 0.0f);
    mine = WarpJoin(mine);
    if (lane == 0) of_warps[warp] = make_float4(mine.count, mine.mean, mine.squares, 0.0f);
    __syncwarp();
    if (warp < 7) {
      asm volatile("barrier.arrive 1, 256;" ::: "memory");
    } else {
      asm volatile("barrier.sync 1, 256;" ::: "memory");
      mine = JoinOfEight(of_warps);
      if (lane == 0) {
        asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(all_words + ((row & 1) * blocks + block) * kWords),
                     "l"(Word(mine.mean, row + 1)), "l"(Word(mine.squares, row + 1))
                     : "memory");
      }
    }
  };
  // Each warp asks some of the blocks.
  const int share = (blocks + 7) / 8, member = warp * share + lane;
  const bool asks = lane < share && member < blocks;
  unsigned long long mean_word = 0, squares_word = 0;
  const auto ask = [&](int row) {
    if (asks) {
      asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(mean_word), "=l"(squares_word)
                   : "l"(all_words + ((row & 1) * blocks + member) * kWords)
                   : "memory");
    }
  };
  const auto answer = [&](int row) {
    Moments all;
    if (asks) {
      while (static_cast<unsigned>(mean_word) != row + 1 || static_cast<unsigned>(squares_word) != row + 1) ask(row);
      all.count = 4.0f * static_cast<float>(kRounds * kWidth + max(0, min(share_of_tail, remaining - member * share_of_tail)));
      all.mean = __uint_as_float(static_cast<unsigned>(mean_word >> 32));
      all.squares = __uint_as_float(static_cast<unsigned>(squares_word >> 32));
    }
    __syncwarp();
    all = WarpJoin(all);
    if (lane == 0) of_blocks[row & 1][warp] = make_float4(all.count, all.mean, all.squares, 0.0f);
  };

#pragma unroll
  for (int j = 0; j < kRounds; ++j) {
    if (j == 0) WaitForAllButExactly<kRing - 8>();
    if (j == 8) WaitForAllButExactly<kRing - 16>();
    if (j == 16) WaitForAllButExactly<kRing - 24>();
    if (j == 24) WaitForAllButExactly<kRing - 32>();
    look_at(ring[j * kWidth], j, 0);
  }
  publish(0);
  // Weights come while the others' words do.
  float4 weights[kRounds], biases[kInRegisters];
#pragma unroll
  for (int j = 0; j < kRounds; ++j) weights[j] = Once(weights_from + j * round);
#pragma unroll
  for (int j = 0; j < kInRegisters; ++j) biases[j] = Once(biases_from + j * round);
  if (more) {
    tail_weights[thread] = __ldg(weights_from + to_tail);
    tail_biases[thread] = __ldg(biases_from + to_tail);
  }
  WaitForAllButExactly<kFlight>();
#pragma unroll
  for (int j = 0; j < kEarly; ++j) look_at(ring[(kRounds + j) * kWidth], j, 1);
  ask(0);
  answer(0);

  int out_slot = 0, look_slot = (kRounds + kEarly) * kWidth;
#pragma unroll 1
  for (int row = 0; row < rows; ++row) {
    __syncthreads();
    // Nobody of this block asks any more: the last block to say so puts the words back.
    if (row + 1 == rows && warp == 0) {
      unsigned left = 0;
      if (lane == 0) left = atomicAdd(arrivals, 1u);
      left = __shfl_sync(kWarp, left, 0);
      if (left == static_cast<unsigned>(blocks) - 1) {
        for (int i = lane; i < 2 * blocks; i += 32) {
          *reinterpret_cast<ulonglong2*>(all_words + i * kWords) = make_ulonglong2(0, 0);
        }
        if (lane == 0) *arrivals = 0;
      }
    }
    const Moments all = JoinOfEight(of_blocks[row & 1]);
    const float mean = all.mean, scale = rsqrtf(all.squares / all.count + eps);
    from += vectors;
#pragma unroll
    for (int j = 0; j < kRounds; ++j) {
      if (j > 0 && j % kTogether == 0 && j < kRounds - kEarly) __syncthreads();
      WaitForAllButExactly<kFlight - 1>();
      const float4 seen = ring[look_slot], held = ring[out_slot];
      const float4 b = j < kInRegisters ? biases[j < kInRegisters ? j : 0] : kept[(j - kInRegisters) * kWidth];
      look_at(seen, (j + kEarly) % kRounds, row + 1);
      const float4 result = Normalized(held, mean, scale, weights[j], b);
      Put<kHint>(line + j * round, result);
      if (j == kRounds - 1 && more) {
        Put<kHint>(line + to_tail,
                   Normalized(tails[row & 1][thread], mean, scale, tail_weights[thread], tail_biases[thread]));
      }
      constexpr int kMore = kRing - kRounds;
      copy(out_slot, from + (j + kMore < kRounds ? 0 : vectors), (j + kMore) % kRounds,
           row + 1 + (j + kMore) / kRounds, row + 1 + (j + kMore) / kRounds < rows);  // into the slot just read
      out_slot = out_slot + kWidth == kRing * kWidth ? 0 : out_slot + kWidth;
      look_slot = look_slot + kWidth == kRing * kWidth ? 0 : look_slot + kWidth;
      if (row + 1 < rows) {
        if (j + 1 + kEarly == kRounds) publish(row + 1);
        if (j + 1 == kRounds) {
          ask(row + 1);
          answer(row + 1);
        }
      }
    }
    line += vectors;
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
