// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// matmul_f32 on tensor cores. Every number is split once into two float16 (11 bits each) of a power of two that a piece
// of SLAB numbers along k shares, and three products are summed: low * high, high * low, high * high.
//
// Why so: bound by the cores, an H200 gives three float16 products 790 / 3 = 263 TFLOP/s, three TF32 ones 400 / 3 =
// 133, six of three bfloat16 parts 790 / 6 = 132, and FFMA 50; mma.sync reaches perhaps six tenths of the first. Two
// float16 keep 22 bits as two TF32 do; what they lack is range, and the shared exponents give that back. Splitting
// first costs one pass over a and b, and leaves nothing but copies, ldmatrix and mma to the main loop.
//
// Precision: a split is off by at most 2^-22 of a number, or 2^-39 of the largest of its piece, or 2^-139, whichever is
// most; low * low, left out, is at most 2^-22 of a product. The cores truncate sums, so a slab is summed there (SLAB /
// 16 times three steps) and added to the result outside, where its two exponents are put back: exact, rounded once.
// Range: every finite b, and |a| < 2^105; results over- and underflow as float32 does. Infinities in a or b make NaN.
/*hone
constraints = ["STAGES * (SLAB + 1) * (64 * DOWN + 128) * 4 <= 227000"]

[tune]
SLAB = [32, 64]
STAGES = [3, 4, 2]
DOWN = [2, 1]         # warps down a tile, of 64 rows each
BAND = [8, 4, 16]     # tile rows that share their part of b in the second-level cache

# High parts, then low ones; rows and columns filled up with zeros to whole tiles.
[[workspace]]
name = "a_parts"
bytes = "ceil_div(m, 128) * 128 * ceil_div(k, SLAB) * SLAB * 4"

[[workspace]]
name = "b_parts"
bytes = "ceil_div(n, 128) * 128 * ceil_div(k, SLAB) * SLAB * 4"

# What a piece of a row of a, or of a column of b, is to be multiplied by: [slab][row or column].
[[workspace]]
name = "a_scales"
bytes = "ceil_div(m, 128) * 128 * ceil_div(k, SLAB) * 4"

[[workspace]]
name = "b_scales"
bytes = "ceil_div(n, 128) * 128 * ceil_div(k, SLAB) * 4"

[[launch]]
kernel = "split_rows<SLAB>"
grid   = ["n > 0 ? ceil_div(m, 128) * 128 * ceil_div(k, SLAB) / 16 : 0"]
block  = ["128"]
args   = ["a", "a_parts", "a_scales", "m:i32", "ceil_div(m, 128) * 128:i32", "k:i32", "ceil_div(k, SLAB):i32"]

[[launch]]
step   = 1
kernel = "split_columns<SLAB>"
grid   = ["m > 0 ? ceil_div(n, 128) : 0", "min(ceil_div(k, SLAB), 65535)"]
block  = ["128"]
args   = ["b", "b_parts", "b_scales", "k:i32", "ceil_div(k, SLAB):i32", "n:i32", "ceil_div(n, 128) * 128:i32"]

[[launch]]
step   = 2
kernel = "multiply<SLAB, STAGES, DOWN>"
grid   = ["ceil_div(m, 64 * DOWN) * ceil_div(n, 128)"]
block  = ["128 * DOWN"]
shared = "STAGES * (SLAB + 1) * (64 * DOWN + 128) * 4"
args   = ["a_parts", "b_parts", "a_scales", "b_scales", "c", "m:i32", "ceil_div(m, 128) * 128:i32", "n:i32",
          "ceil_div(n, 128) * 128:i32", "ceil_div(k, SLAB):i32", "BAND:i32"]
*/
#include <cuda_fp16.h>

namespace {

// The exponent of two that brings numbers up to `largest` (0 or finite) under 2^15 and, but for the least of floats,
// to 2^14.
__device__ __forceinline__ int Exponent(float largest) {
  return max(static_cast<int>(__float_as_uint(largest) >> 23) - 127, -100) - 14;
}
__device__ __forceinline__ float PowerOfTwo(int exponent) {  // -126 to 127
  return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}
// What Exponent and the largest look at: infinities and NaN have no exponent of use.
__device__ __forceinline__ float Magnitude(float v) {
  const float magnitude = fabsf(v);
  return magnitude <= 3.402823466e38f ? magnitude : 0.0f;
}

struct Parts {
  __half high, low;
};
__device__ __forceinline__ Parts Split(float scaled) {
  const __half high = __float2half_rn(scaled);
  return {high, __float2half_rn(scaled - __half2float(high))};
}

__device__ __forceinline__ void CopyAsync(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from) : "memory");
}
template <int kPending>
__device__ __forceinline__ void WaitForCopies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}

template <bool kTransposed>
__device__ __forceinline__ void LoadMatrices(unsigned (&r)[4], unsigned from) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
  }
}

__device__ __forceinline__ void MultiplyAdd(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace

// a [m, k] into parts [2][padded, slabs * kSlab] and scales [slabs][padded]. A warp takes four pieces, a number a lane
// and load, because rows may start anywhere.
template <int kSlab>
__global__ void __launch_bounds__(128) split_rows(const float* __restrict__ a, __half* __restrict__ parts,
                                                  float* __restrict__ scales, int m, int padded, int k, int slabs) {
  constexpr int kEach = 4;  // pieces a warp
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const long long low = static_cast<long long>(padded) * slabs * kSlab;  // where low parts start
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const long long piece = static_cast<long long>(blockIdx.x) * 4 * kEach + warp * kEach + i;
    const int row = static_cast<int>(piece / slabs), slab = static_cast<int>(piece % slabs);
    float v[kSlab / 32], largest = 0.0f;
#pragma unroll
    for (int e = 0; e < kSlab / 32; ++e) {
      const int column = slab * kSlab + lane + 32 * e;
      v[e] = row < m && column < k ? __ldg(a + static_cast<long long>(row) * k + column) : 0.0f;
      largest = fmaxf(largest, Magnitude(v[e]));
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    const int exponent = Exponent(largest);
    const float up = PowerOfTwo(-exponent);
#pragma unroll
    for (int e = 0; e < kSlab / 32; ++e) {
      const Parts split = Split(v[e] * up);
      const long long at = (static_cast<long long>(row) * slabs + slab) * kSlab + lane + 32 * e;
      parts[at] = split.high;
      parts[low + at] = split.low;
    }
    if (lane == 0) scales[static_cast<long long>(slab) * padded + row] = PowerOfTwo(exponent);
  }
}

// b [k, n] into parts [2][slabs * kSlab, padded] and scales [slabs][padded]. A thread a column of a slab.
template <int kSlab>
__global__ void __launch_bounds__(128) split_columns(const float* __restrict__ b, __half* __restrict__ parts,
                                                     float* __restrict__ scales, int k, int slabs, int n, int padded) {
  const int column = static_cast<int>(blockIdx.x * 128 + threadIdx.x);
  const long long low = static_cast<long long>(padded) * slabs * kSlab;
  for (int slab = static_cast<int>(blockIdx.y); slab < slabs; slab += gridDim.y) {
    float v[kSlab], largest = 0.0f;
#pragma unroll
    for (int e = 0; e < kSlab; ++e) {
      const int row = slab * kSlab + e;
      v[e] = row < k && column < n ? __ldg(b + static_cast<long long>(row) * n + column) : 0.0f;
    }
#pragma unroll
    for (int e = 0; e < kSlab; ++e) largest = fmaxf(largest, Magnitude(v[e]));
    const int exponent = Exponent(largest);
    const float up = PowerOfTwo(-exponent);
#pragma unroll
    for (int e = 0; e < kSlab; ++e) {
      const Parts split = Split(v[e] * up);
      const long long at = (static_cast<long long>(slab) * kSlab + e) * padded + column;
      parts[at] = split.high;
      parts[low + at] = split.low;
    }
    scales[static_cast<long long>(slab) * padded + column] = PowerOfTwo(exponent);
  }
}

// Tiles of 64 kDown x 128 by warps of 64 x 32. Shared memory: kStages of {a high, a low [64 kDown][kSlab], b high, b
// low [kSlab][128], scales of a and of b}. The parts' 16-byte chunks are swizzled, so that ldmatrix finds eight rows in
// different banks.
template <int kSlab, int kStages, int kDown>
__global__ void __launch_bounds__(128 * kDown)
    multiply(const __half* __restrict__ a_parts, const __half* __restrict__ b_parts, const float* __restrict__ a_scales,
             const float* __restrict__ b_scales, float* __restrict__ c, int m, int padded_m, int n, int padded_n,
             int slabs, int band) {
  constexpr int kRows = 64 * kDown, kColumns = 128, kThreads = 128 * kDown;
  constexpr int kPartA = kRows * kSlab * 2, kPartB = kSlab * kColumns * 2;  // bytes
  constexpr int kScales = 2 * (kPartA + kPartB);                            // where they lie in a stage
  constexpr int kStage = kScales + (kRows + kColumns) * 4;
  constexpr int kChunksA = kSlab / 8, kChunksB = kColumns / 8;  // of a row
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(shared));

  const int tiles_down = (m + kRows - 1) / kRows, tiles_across = (n + kColumns - 1) / kColumns;
  const int in_band = band * tiles_across;
  const int first_band_row = static_cast<int>(blockIdx.x) / in_band * band;
  const int band_rows = min(band, tiles_down - first_band_row);
  const int within = static_cast<int>(blockIdx.x) % in_band;
  const int first_row = (first_band_row + within % band_rows) * kRows;
  const int first_column = within / band_rows * kColumns;

  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int warp_row = thread / 128 * 64, warp_column = thread / 32 % 4 * 32;

  // Chunk of an a row: rows of 64 bytes repeat their banks every second row, rows of 128 bytes every row.
  const auto a_at = [](int row, int chunk) {
    const int mixed = kSlab == 32 ? chunk ^ (row / 2 % 4) : chunk ^ (row % 8);
    return (row * kChunksA + mixed) * 16;
  };
  const auto b_at = [](int row, int chunk) { return (row * kChunksB + (chunk ^ (row % 8))) * 16; };

  // A thread copies the same chunk of every kStepA-th row of a's tile and of every kStepB-th of b's, which are
  // multiples of eight, so that one address each and one place each, swizzle included, serve for all.
  constexpr int kStepA = kThreads / kChunksA, kStepB = kThreads / kChunksB;
  static_assert(kStepA % 8 == 0 && kStepB % 8 == 0, "the swizzle repeats");
  const long long pitch = static_cast<long long>(slabs) * kSlab;
  const __half* a_from = a_parts + (first_row + thread / kChunksA) * pitch + thread % kChunksA * 8;
  const __half* b_from =
      b_parts + static_cast<long long>(thread / kChunksB) * padded_n + first_column + thread % kChunksB * 8;
  const int a_to = a_at(thread / kChunksA, thread % kChunksA), b_to = b_at(thread / kChunksB, thread % kChunksB);
  const auto fetch = [&](int slab) {
    const unsigned stage = base + slab % kStages * kStage;
#pragma unroll
    for (int part = 0; part < 2; ++part) {
#pragma unroll
      for (int row = 0; row < kRows; row += kStepA) {
        CopyAsync(stage + part * kPartA + row * kSlab * 2 + a_to,
                  a_from + (part * static_cast<long long>(padded_m) + row) * pitch + slab * kSlab);
      }
#pragma unroll
      for (int row = 0; row < kSlab; row += kStepB) {
        CopyAsync(stage + 2 * kPartA + part * kPartB + row * kColumns * 2 + b_to,
                  b_from + (part * pitch + slab * kSlab + row) * padded_n);
      }
    }
    if (thread < (kRows + kColumns) / 4) {
      const float* from = thread < kRows / 4
                              ? a_scales + static_cast<long long>(slab) * padded_m + first_row + 4 * thread
                              : b_scales + static_cast<long long>(slab) * padded_n + first_column + 4 * thread - kRows;
      CopyAsync(stage + kScales + 16 * thread, from);
    }
  };

  float sum[4][4][4] = {};
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (stage < slabs) fetch(stage);
    asm volatile("cp.async.commit_group;\n" ::: "memory");
  }
  for (int slab = 0; slab < slabs; ++slab) {
    WaitForCopies<kStages - 2>();
    __syncthreads();  // all copies of this slab are here, and all warps are done with the stage that is filled next
    if (slab + kStages - 1 < slabs) fetch(slab + kStages - 1);
    asm volatile("cp.async.commit_group;\n" ::: "memory");

    const unsigned stage = base + slab % kStages * kStage;
    float part[4][4][4] = {};
#pragma unroll(kSlab == 32 ? 2 : 1)  // the next steps' operands, but no more than registers hold
    for (int step = 0; step < kSlab / 16; ++step) {
      unsigned a[2][4][4], b[2][2][4];  // [high or low][tile or pair of tiles]
#pragma unroll
      for (int p = 0; p < 2; ++p) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          LoadMatrices<false>(a[p][i], stage + p * kPartA + a_at(warp_row + 16 * i + lane % 16, 2 * step + lane / 16));
        }
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          LoadMatrices<true>(b[p][j], stage + 2 * kPartA + p * kPartB +
                                          b_at(16 * step + lane % 16, warp_column / 8 + 2 * j + lane / 16));
        }
      }
      // Small products first. Each of sixteen sums is touched once before any is touched again.
#pragma unroll
      for (int product = 0; product < 3; ++product) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const unsigned(&right)[4] = b[product == 1][j / 2];
            MultiplyAdd(part[i][j], a[product == 0][i], right[j % 2 * 2], right[j % 2 * 2 + 1]);
          }
        }
      }
    }
    // Rows lane / 4 and the eighth after it of four 16-row tiles; columns 2 (lane % 4) and the next of four tiles.
    const float* scales = reinterpret_cast<const float*>(shared + slab % kStages * kStage + kScales);
    float2 b_scale[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      b_scale[j] = *reinterpret_cast<const float2*>(scales + kRows + warp_column + 8 * j + lane % 4 * 2);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float a_scale[2] = {scales[warp_row + 16 * i + lane / 4], scales[warp_row + 16 * i + 8 + lane / 4]};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          sum[i][j][e] = fmaf(part[i][j][e] * a_scale[e / 2], e % 2 == 0 ? b_scale[j].x : b_scale[j].y, sum[i][j][e]);
        }
      }
    }
  }

#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + warp_row + 16 * i + 8 * half + lane / 4;
      if (row >= m) continue;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int column = first_column + warp_column + 8 * j + lane % 4 * 2;
        float* to = c + static_cast<long long>(row) * n + column;
        if (n % 2 == 0 && column < n) {
          *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
        } else {
          if (column < n) to[0] = sum[i][j][2 * half];
          if (column + 1 < n) to[1] = sum[i][j][2 * half + 1];
        }
      }
    }
  }
}
