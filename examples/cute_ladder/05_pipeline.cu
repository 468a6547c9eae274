// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Step 5: more in flight. Several stages of tiles, so that cp.async is always that many steps ahead, and fragments twice
// in registers, so that the ldmatrix of the next sixteen steps of K runs beside the mma of these.
//
// One barrier a step: it says both that the next tiles have arrived and that the stage to be filled next is free. The
// number of stages is tunable.
//
// What bounds it: mma.sync itself. Fragments pass through registers, every warp issues its own loads, and Hopper's tensor
// cores give this instruction perhaps six tenths of their rate.
/*hone
[tune]
STAGES = [4, 3, 5]

[[launch]]
kernel = "pipeline<STAGES>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
shared = "STAGES * 16384"
args   = ["a", "b", "c", "m:i32", "n:i32", "k:i32"]
when   = "n % 8 == 0 && k % 8 == 0"

[[launch]]
kernel = "any_shape"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cute/tensor.hpp>

using namespace cute;
using Element = bfloat16_t;
constexpr int kBK = 32;
using LayoutA = decltype(composition(Swizzle<2, 3, 3>{}, Layout<Shape<_128, _32>, Stride<_32, _1>>{}));   // (M, K)
using LayoutB = decltype(composition(Swizzle<3, 3, 4>{}, Layout<Shape<_128, _32>, Stride<_1, _128>>{}));  // (N, K)
using Copy = SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>;
using LoadA = SM75_U32x4_LDSM_N;
using LoadB = SM75_U16x8_LDSM_T;  // transposes on the way
using Atom = SM80_16x8x16_F32BF16BF16F32_TN;

// Sixteen bytes of each of two rows of both tiles: a thread's share of one step of K. Vectors that begin inside a matrix
// end inside it, and those outside arrive as zeros.
__device__ __forceinline__ void Fetch(const Element* a, const Element* b, Element* a_tile, Element* b_tile, int row,
                                      int column, int first_k, int m, int n, int k) {
  const int thread = threadIdx.x;
  CUTE_UNROLL
  for (int i = 0; i < 2; ++i) {
    const int ra = thread / 4 + 64 * i, ka = thread % 4 * 8;     // of a's tile: row, K
    const int kb = thread / 16 + 16 * i, nb = thread % 16 * 8;   // of b's tile: K, column
    const bool in_a = row + ra < m && first_k + ka < k, in_b = first_k + kb < k && column + nb < n;
    const Element* from_a = in_a ? a + int64_t(row + ra) * k + first_k + ka : a;
    const Element* from_b = in_b ? b + int64_t(first_k + kb) * n + column + nb : b;
    Copy::copy(*reinterpret_cast<const uint128_t*>(from_a), *reinterpret_cast<uint128_t*>(a_tile + LayoutA{}(ra, ka)), in_a);
    Copy::copy(*reinterpret_cast<const uint128_t*>(from_b), *reinterpret_cast<uint128_t*>(b_tile + LayoutB{}(nb, kb)), in_b);
  }
  cp_async_fence();
}

// Sixteen steps of K for a warp: four fragments of 16 rows of a, and of b two times two fragments of 8 columns.
struct Fragments {
  uint32_t a[4][4], b[4][2];
  __device__ __forceinline__ void Load(const Element* a_tile, const Element* b_tile, int row, int column, int first_k) {
    const int low = threadIdx.x % 16, high = threadIdx.x % 32 / 16 * 8;
    CUTE_UNROLL
    for (int i = 0; i < 4; ++i) {
      LoadA::copy(*reinterpret_cast<const uint128_t*>(a_tile + LayoutA{}(row + 16 * i + low, first_k + high)), a[i][0], a[i][1],
                  a[i][2], a[i][3]);
    }
    CUTE_UNROLL
    for (int j = 0; j < 4; j += 2) {
      LoadB::copy(*reinterpret_cast<const uint128_t*>(b_tile + LayoutB{}(column + 8 * j + high, first_k + low)), b[j][0], b[j][1],
                  b[j + 1][0], b[j + 1][1]);
    }
  }
};

__device__ __forceinline__ void Multiply(const Fragments& f, float (&sum)[4][4][4]) {
  CUTE_UNROLL
  for (int i = 0; i < 4; ++i) {
    CUTE_UNROLL
    for (int j = 0; j < 4; ++j) {
      float(&s)[4] = sum[i][j];
      Atom::fma(s[0], s[1], s[2], s[3], f.a[i][0], f.a[i][1], f.a[i][2], f.a[i][3], f.b[j][0], f.b[j][1], s[0], s[1], s[2], s[3]);
    }
  }
}

template <int kStages>
__global__ void __launch_bounds__(256) pipeline(const Element* a, const Element* b, Element* c, int m, int n, int k) {
  constexpr int kTileA = cosize_v<LayoutA>, kTileB = cosize_v<LayoutB>;
  extern __shared__ __align__(128) uint8_t raw[];
  Element* a_shared = reinterpret_cast<Element*>(raw);
  Element* b_shared = a_shared + kStages * kTileA;
  const int tiles_n = (n + 127) / 128;
  const int row = blockIdx.x / tiles_n * 128, column = blockIdx.x % tiles_n * 128;
  const int thread = threadIdx.x;
  const int warp_row = thread / 128 * 64, warp_column = thread / 32 % 4 * 32;  // 2 x 4 warps of 64 x 32 results
  const int steps = (k + kBK - 1) / kBK;
  const auto fetch = [&](int step) {
    const int s = step % kStages;
    if (step < steps) {
      Fetch(a, b, a_shared + s * kTileA, b_shared + s * kTileB, row, column, step * kBK, m, n, k);
    } else {
      cp_async_fence();  // an empty group: waits count groups
    }
  };

  Fragments fragments[2];
  float sum[4][4][4] = {};
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  cp_async_wait<kStages - 2>();
  __syncthreads();
  if (steps > 0) fragments[0].Load(a_shared, b_shared, warp_row, warp_column, 0);
  for (int step = 0; step < steps; ++step) {
    const int s = step % kStages, next = (step + 1) % kStages;
    fragments[1].Load(a_shared + s * kTileA, b_shared + s * kTileB, warp_row, warp_column, 16);
    fetch(step + kStages - 1);  // into the stage that everyone left at the last barrier
    Multiply(fragments[0], sum);
    cp_async_wait<kStages - 2>();
    __syncthreads();  // the next step's tiles are there
    if (step + 1 < steps) fragments[0].Load(a_shared + next * kTileA, b_shared + next * kTileB, warp_row, warp_column, 0);
    Multiply(fragments[1], sum);
  }
  cp_async_wait<0>();

  // A lane holds pairs of neighbouring columns, in rows lane / 4 and lane / 4 + 8 of every 16 x 8 results.
  const int lane = thread % 32;
  CUTE_UNROLL
  for (int i = 0; i < 4; ++i) {
    CUTE_UNROLL
    for (int j = 0; j < 4; ++j) {
      CUTE_UNROLL
      for (int h = 0; h < 2; ++h) {
        const int r = row + warp_row + 16 * i + 8 * h + lane / 4, q = column + warp_column + 8 * j + lane % 4 * 2;
        if (r < m && q < n) {
          *reinterpret_cast<__nv_bfloat162*>(c + int64_t(r) * n + q) =
              __floats2bfloat162_rn(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
        }
      }
    }
  }
}

// What 16-byte copies cannot bring.
__global__ void any_shape(const Element* a, const Element* b, Element* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0;
  for (long long j = 0; j < k; ++j) sum += float(a[i / n * k + j]) * float(b[j * n + i % n]);
  c[i] = Element(sum);
}
