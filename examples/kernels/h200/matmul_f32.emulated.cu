// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// matmul_f32 on Hopper's tensor cores: the scheme of ../matmul_f32.emulated.cu with wgmma. Every number is split once
// into two float16 (11 bits each) of a power of two that a piece of 64 numbers along k shares, and three products are
// summed: low * high, high * low, high * high. The first launch splits a and b and leaves the parts as wgmma wants them
// in shared memory; in the second, one thread brings tiles in by bulk copies, and warp groups multiply 64 x 128 results
// each.
//
// A piece is summed in the cores, from zero, and then added to the result outside, where its two exponents are put
// back: the cores truncate sums, and twelve additions are too few for that to tell. While one piece's sums are added,
// the next one's are computed in other registers, so that the cores do not wait.
//
// Precision: a split is off by at most 2^-22 of a number, or 2^-39 of the largest of its piece, or 2^-139, whichever is
// most; low * low, left out, is at most 2^-22 of a product. Range: every finite b, and |a| < 2^105; results over- and
// underflow as float32 does. Infinities in a or b make NaN.
/*hone
[tune]
CLUSTER = [2, 1]
GROUP = [8, 16, 4]    # cluster rows of tiles that are walked together
STAGES = [3, 2]

# As they are to lie in shared memory, tile by tile: pieces of 64 rows of a, then of 128 columns of b, high parts before
# low ones. Rows and columns are filled up with zeros to whole tiles.
[[workspace]]
name = "a_parts"
bytes = "ceil_div(m, 256) * 256 * ceil_div(k, 64) * 256"

[[workspace]]
name = "b_parts"
bytes = "ceil_div(n, 128) * 128 * ceil_div(k, 64) * 256"

# What a piece of a row of a, or of a column of b, is to be multiplied by: [piece][row or column].
[[workspace]]
name = "a_scales"
bytes = "ceil_div(m, 256) * 256 * ceil_div(k, 64) * 4"

[[workspace]]
name = "b_scales"
bytes = "ceil_div(n, 128) * 128 * ceil_div(k, 64) * 4"

[[launch]]
kernel = "split"
grid   = ["m > 0 && n > 0 ? ceil_div(k, 64) * (ceil_div(m, 256) * 4 + ceil_div(n, 128)) : 0"]
block  = ["256"]
args   = ["a", "a_parts", "a_scales", "b", "b_parts", "b_scales", "m:i32", "ceil_div(m, 256) * 256:i32", "n:i32",
          "ceil_div(n, 128) * 128:i32", "k:i32", "ceil_div(k, 64):i32"]

# Few tiles: lower ones, for more SMs.
[[launch]]
step   = 1
kernel = "multiply<1, 4, 1>"
grid   = ["min(sm_count, ceil_div(m, 64) * ceil_div(n, 128))"]
block  = ["256"]
shared = "4 * (2 * (64 + 128) * 128 + 1024) + 2048"
args   = ["a_parts", "b_parts", "a_scales", "b_scales", "c", "m:i32", "ceil_div(m, 256) * 256:i32",
          "n:i32", "ceil_div(n, 128) * 128:i32", "ceil_div(k, 64):i32", "GROUP:i32"]
when   = "k > 0 && ceil_div(m, 128) * ceil_div(n, 128) * 2 <= sm_count"

[[launch]]
step   = 1
kernel = "multiply<2, STAGES, CLUSTER>"
grid   = ["CLUSTER * min(sm_count / CLUSTER, ceil_div(m, 128 * CLUSTER) * ceil_div(n, 128))"]
block  = ["384"]
cluster = ["CLUSTER"]
shared = "STAGES * (2 * (128 + 128) * 128 + 1024) + 2048"
args   = ["a_parts", "b_parts", "a_scales", "b_scales", "c", "m:i32", "ceil_div(m, 256) * 256:i32",
          "n:i32", "ceil_div(n, 128) * 128:i32", "ceil_div(k, 64):i32", "GROUP:i32"]
when   = "k > 0"

[[launch]]
step   = 1
kernel = "no_products"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["c", "m * n:i64"]
*/
#include <cuda_fp16.h>

namespace {

constexpr int kPiece = 64;  // numbers along k that share an exponent: a row of the swizzle

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

// Four elements of `row` from `column` on; zeros outside rows x columns.
__device__ __forceinline__ float4 Load4(const float* __restrict__ matrix, int row, int column, int rows, int columns) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (row >= rows) return v;
  const float* from = matrix + static_cast<long long>(row) * columns + column;
  if (columns % 4 == 0) {
    if (column < columns) v = __ldg(reinterpret_cast<const float4*>(from));
  } else {
    if (column + 0 < columns) v.x = from[0];
    if (column + 1 < columns) v.y = from[1];
    if (column + 2 < columns) v.z = from[2];
    if (column + 3 < columns) v.w = from[3];
  }
  return v;
}

__device__ __forceinline__ unsigned Packed(__half x, __half y) {
  const __half2 pair = __halves2half2(x, y);
  return reinterpret_cast<const unsigned&>(pair);
}
// Where four numbers of a row lie in a tile with rows of 64, in elements: 16-byte chunks are swizzled as wgmma's layout
// with 128-byte rows has it.
__device__ __forceinline__ int PlaceInTile(int row, int column) { return row * 64 + (column ^ row % 8 * 8); }

// Writes the parts of four scaled numbers to `at` and, the low ones, `low` elements after it.
__device__ __forceinline__ void StoreParts(const float (&v)[4], __half* at, int low) {
  __half high[4], rest[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    high[i] = __float2half_rn(v[i]);
    rest[i] = __float2half_rn(v[i] - __half2float(high[i]));
  }
  *reinterpret_cast<uint2*>(at) = make_uint2(Packed(high[0], high[1]), Packed(high[2], high[3]));
  *reinterpret_cast<uint2*>(at + low) = make_uint2(Packed(rest[0], rest[1]), Packed(rest[2], rest[3]));
}

// A piece of 64 rows: a half warp every sixteenth row, a lane four k-steps.
__device__ __forceinline__ void SplitRows(const float* __restrict__ a, __half* __restrict__ parts,
                                          float* __restrict__ scales, int block, int m, int padded, int k) {
  const int lane = threadIdx.x % 16, half = threadIdx.x / 16;
  const int piece = block / (padded / 64), first = block % (padded / 64) * 64;
  float4 v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = Load4(a, first + half + 16 * i, piece * kPiece + lane * 4, m, k);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float largest = fmaxf(fmaxf(Magnitude(v[i].x), Magnitude(v[i].y)), fmaxf(Magnitude(v[i].z), Magnitude(v[i].w)));
#pragma unroll
    for (int offset = 8; offset > 0; offset /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    const int exponent = Exponent(largest), row = half + 16 * i;
    const float up = PowerOfTwo(-exponent);
    const float scaled[4] = {v[i].x * up, v[i].y * up, v[i].z * up, v[i].w * up};
    StoreParts(scaled, parts + block * 8192LL + PlaceInTile(row, lane * 4), 4096);
    if (lane == 0) scales[static_cast<long long>(piece) * padded + first + row] = PowerOfTwo(exponent);
  }
}

// A piece of 128 columns: a warp every eighth row, a lane four columns.
__device__ __forceinline__ void SplitColumns(const float* __restrict__ b, __half* __restrict__ parts,
                                             float* __restrict__ scales, int block, int k, int n, int padded) {
  __shared__ float4 tops[8][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int piece = block / (padded / 128), column = block % (padded / 128) * 128 + lane * 4;
  float4 v[8], top = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = Load4(b, piece * kPiece + warp + 8 * i, column, k, n);
  const auto raise = [&](float4 w) {
    top = make_float4(fmaxf(top.x, w.x), fmaxf(top.y, w.y), fmaxf(top.z, w.z), fmaxf(top.w, w.w));
  };
#pragma unroll
  for (int i = 0; i < 8; ++i)
    raise(make_float4(Magnitude(v[i].x), Magnitude(v[i].y), Magnitude(v[i].z), Magnitude(v[i].w)));
  tops[warp][lane] = top;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) raise(tops[i][lane]);
  const int exponents[4] = {Exponent(top.x), Exponent(top.y), Exponent(top.z), Exponent(top.w)};
  float up[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) up[j] = PowerOfTwo(-exponents[j]);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float scaled[4] = {v[i].x * up[0], v[i].y * up[1], v[i].z * up[2], v[i].w * up[3]};
    StoreParts(scaled, parts + block * 16384LL + lane / 16 * 4096 + PlaceInTile(warp + 8 * i, lane % 16 * 4), 8192);
  }
  if (warp == 0) {
    *reinterpret_cast<float4*>(scales + static_cast<long long>(piece) * padded + column) = make_float4(
        PowerOfTwo(exponents[0]), PowerOfTwo(exponents[1]), PowerOfTwo(exponents[2]), PowerOfTwo(exponents[3]));
  }
}

__device__ __forceinline__ unsigned SharedAddress(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// mbarriers, named by their addresses in shared memory.
__device__ __forceinline__ void InitBarrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void Wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void ExpectBytes(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Of the cluster's block `rank`. Without .release.cluster: that would wait for all memory operations at every step, and
// what the arrival tells is only that wgmma has read a slot.
__device__ __forceinline__ void ArriveAt(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

// Where wgmma finds a tile with rows of 128 bytes, swizzled; `leading` and `stride` in bytes.
__device__ __forceinline__ unsigned long long Descriptor(unsigned address, unsigned leading, unsigned stride) {
  return static_cast<unsigned long long>(address >> 4 & 0x3fff) | static_cast<unsigned long long>(leading >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32 | 1ULL << 62;
}
__device__ __forceinline__ void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void CommitProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void WaitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define SUM_4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SUM_16(i) SUM_4(i), SUM_4(i + 4), SUM_4(i + 8), SUM_4(i + 12)
#define SUM_64(i) SUM_16(i), SUM_16(i + 16), SUM_16(i + 32), SUM_16(i + 48)

__device__ __forceinline__ void LoadBytes(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
// To both blocks of a cluster.
__device__ __forceinline__ void LoadBytesToPair(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "h"(static_cast<unsigned short>(3))
      : "memory");
}

#define TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define SUM_4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SUM_16(i) SUM_4(i), SUM_4(i + 4), SUM_4(i + 8), SUM_4(i + 12)

// sum [64, 128] = a [64, 16] b [16, 128], added to the sum if `add`: a by rows of k, b by rows of n.
__device__ __forceinline__ void Multiply(float (&sum)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" TEN() TEN(1)
          TEN(2) TEN(3) TEN(4) TEN(5) "%60,%61,%62,%63}, %64, %65, add, 1, 1, 0, 1;\n}"
      : SUM_16(0), SUM_16(16), SUM_16(32), SUM_16(48)
      : "l"(a), "l"(b), "r"(add));
}

}  // namespace

// a [m, k] into parts [pieces][padded_m / 64][2][64, 64] and scales [pieces][padded_m]; b [k, n] into parts [pieces]
// [padded_n / 128][2][2 halves of the columns][64, 64] and scales [pieces][padded_n]. A block a tile, those of a first.
__global__ void __launch_bounds__(256)
    split(const float* __restrict__ a, __half* __restrict__ a_parts, float* __restrict__ a_scales,
          const float* __restrict__ b, __half* __restrict__ b_parts, float* __restrict__ b_scales, int m, int padded_m,
          int n, int padded_n, int k, int pieces) {
  const int block = static_cast<int>(blockIdx.x) - padded_m / 64 * pieces;
  if (block < 0) {
    SplitRows(a, a_parts, a_scales, static_cast<int>(blockIdx.x), m, padded_m, k);
  } else {
    SplitColumns(b, b_parts, b_scales, block, k, n, padded_n);
  }
}

// Tiles of 64 kConsumers x 128; the blocks of a cluster stand above each other and share their part of b. Shared
// memory: kStages of {tiles of a, a tile of b, scales of a and of b}, barriers.
template <int kConsumers, int kStages, int kCluster>
__global__ void __launch_bounds__(128 * kConsumers + 128, 1)
    multiply(const __half* __restrict__ a_parts, const __half* __restrict__ b_parts, const float* __restrict__ a_scales,
             const float* __restrict__ b_scales, float* __restrict__ c, int m, int padded_m, int n, int padded_n,
             int pieces, int group) {
  constexpr int kBM = 64 * kConsumers, kBN = 128;
  constexpr unsigned kPartA = 64 * 128, kPartB = kBN * 128;  // bytes; a's are each consumer's own
  constexpr unsigned kTileB = kConsumers * 2 * kPartA, kScales = kTileB + 2 * kPartB;  // where they lie in a stage
  constexpr unsigned kFill = kScales + (kBM + kBN) * 4, kStage = kScales + 1024;
  extern __shared__ unsigned char raw[];
  // The swizzle is a function of the address: tiles start at multiples of 1024.
  const unsigned base = (SharedAddress(raw) + 1023) & ~1023u;
  const unsigned full = base + kStages * kStage, empty = full + 8 * kStages;
  unsigned rank = 0;
  if constexpr (kCluster > 1) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      InitBarrier(full + 8 * s, 1);
      InitBarrier(empty + 8 * s, kCluster * kConsumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  const auto meet = [] {
    if constexpr (kCluster > 1) {
      asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    } else {
      __syncthreads();
    }
  };
  meet();

  const int rows = (m + kCluster * kBM - 1) / (kCluster * kBM), columns = padded_n / kBN;  // of clusters' tiles
  const int tiles = rows * columns, clusters = gridDim.x / kCluster;
  const auto place = [&](int tile, int& row, int& column) {
    const int first = tile / (group * columns) * group, rest = tile % (group * columns);
    const int high = min(group, rows - first);
    row = ((first + rest % high) * kCluster + rank) * kBM;
    column = rest / high * kBN;
  };
  int s = 0;  // the slot, and the parity of its present turn
  unsigned phase = 0;
  const auto next = [&] {
    if (++s == kStages) s = 0, phase ^= 1;
  };

  if (threadIdx.x < 128) {
    if constexpr (kConsumers == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      for (int tile = blockIdx.x / kCluster; tile < tiles; tile += clusters) {
        int row, column;
        place(tile, row, column);
        // Of the first piece; then from piece to piece.
        const __half* a_from = a_parts + row / 64 * 8192LL;
        const __half* b_from = b_parts + column / kBN * 16384LL + (kCluster == 1 ? 0 : rank * 8192);
        for (int piece = 0; piece < pieces; ++piece, next()) {
          const unsigned slot = base + s * kStage, barrier = full + 8 * s;
          Wait(empty + 8 * s, phase ^ 1);  // for the turn before: at first it is over
          ExpectBytes(barrier, kFill);
          LoadBytes(slot, a_from, kTileB, barrier);
          if constexpr (kCluster == 1) {
            LoadBytes(slot + kTileB, b_from, 2 * kPartB, barrier);
          } else {  // each brings one part for both
            LoadBytesToPair(slot + kTileB + rank * kPartB, b_from, kPartB, barrier);
          }
          LoadBytes(slot + kScales, a_scales + static_cast<long long>(piece) * padded_m + row, kBM * 4, barrier);
          LoadBytes(slot + kScales + kBM * 4, b_scales + static_cast<long long>(piece) * padded_n + column, kBN * 4,
                    barrier);
          a_from += padded_m * 128LL;
          b_from += padded_n * 128LL;
        }
      }
    }
    __syncwarp();
  } else {
    if constexpr (kConsumers == 2) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int consumer = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
    const int my_row = consumer * 64 + thread / 32 * 16 + thread % 32 / 4, my_column = thread % 4 * 2;
    float sum[64], part[2][64];
    // Starts the products of the next piece.
    const auto issue = [&](float(&to)[64]) {
      const unsigned slot = base + s * kStage;
      Wait(full + 8 * s, phase);
      BeginProducts();
      const unsigned long long a_high = Descriptor(slot + 2 * consumer * kPartA, 16, 1024);
      const unsigned long long a_low = Descriptor(slot + (2 * consumer + 1) * kPartA, 16, 1024);
      const unsigned long long b_high = Descriptor(slot + kTileB, 8192, 1024);
      const unsigned long long b_low = Descriptor(slot + kTileB + kPartB, 8192, 1024);
#pragma unroll
      for (int i = 0; i < 4; ++i) Multiply(to, a_low + i * 2, b_high + i * 128, i);  // small products first
#pragma unroll
      for (int i = 0; i < 4; ++i) Multiply(to, a_high + i * 2, b_low + i * 128, 1);
#pragma unroll
      for (int i = 0; i < 4; ++i) Multiply(to, a_high + i * 2, b_high + i * 128, 1);
      CommitProducts();
      next();
    };
    // Adds the sums of the earliest piece under way to the result, and gives its slot back.
    int earliest = 0;
    const auto add = [&](const float(&from)[64]) {
      const unsigned scales = base + earliest * kStage + kScales;
      float upper, lower;
      asm volatile("ld.shared.f32 %0, [%1];" : "=f"(upper) : "r"(scales + my_row * 4));
      asm volatile("ld.shared.f32 %0, [%1];" : "=f"(lower) : "r"(scales + my_row * 4 + 32));
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        float x, y;
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(x), "=f"(y)
                     : "r"(scales + (kBM + my_column + 8 * j) * 4));
        sum[4 * j] = fmaf(from[4 * j] * upper, x, sum[4 * j]);
        sum[4 * j + 1] = fmaf(from[4 * j + 1] * upper, y, sum[4 * j + 1]);
        sum[4 * j + 2] = fmaf(from[4 * j + 2] * lower, x, sum[4 * j + 2]);
        sum[4 * j + 3] = fmaf(from[4 * j + 3] * lower, y, sum[4 * j + 3]);
      }
      asm volatile("bar.sync %0, 128;" ::"r"(consumer + 1) : "memory");  // all have read the scales
      if (thread < kCluster) ArriveAt(empty + 8 * earliest, thread);
      if (++earliest == kStages) earliest = 0;
    };

    for (int tile = blockIdx.x / kCluster; tile < tiles; tile += clusters) {
#pragma unroll
      for (int i = 0; i < 64; ++i) sum[i] = 0.0f;
      issue(part[0]);
      int piece = 1;
      for (; piece + 1 < pieces; piece += 2) {
        issue(part[1]);
        WaitForProducts<1>();
        add(part[0]);
        issue(part[0]);
        WaitForProducts<1>();
        add(part[1]);
      }
      if (piece < pieces) {
        issue(part[1]);
        WaitForProducts<1>();
        add(part[0]);
        WaitForProducts<0>();
        add(part[1]);
      } else {
        WaitForProducts<0>();
        add(part[0]);
      }

      int row, column;
      place(tile, row, column);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int y = row + my_row + 8 * half;
        if (y >= m) continue;
#pragma unroll
        for (int j = 0; j < 16; ++j) {
          const int x = column + my_column + 8 * j;
          float* to = c + static_cast<long long>(y) * n + x;
          if (n % 2 == 0 && x < n) {
            *reinterpret_cast<float2*>(to) = make_float2(sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]);
          } else {
            if (x < n) to[0] = sum[4 * j + 2 * half];
            if (x + 1 < n) to[1] = sum[4 * j + 2 * half + 1];
          }
        }
      }
    }
  }
  meet();  // no block leaves while its neighbour may still write to it or arrive at its barriers
}

__global__ void no_products(float* c, long long size) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < size) c[i] = 0.0f;
}
