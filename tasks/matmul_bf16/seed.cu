// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// matmul_bf16 as one would write it first: tensor cores through wmma. A block of eight warps computes a tile of
// 128 x 128 results, 32 k-steps at a time through shared memory; a warp keeps 64 x 32 of them in fragments. The next
// slab is fetched while this one is used.
/*hone
[[launch]]
kernel = "matmul_bf16<true>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
when   = "n % 8 == 0 && k % 8 == 0"

[[launch]]
kernel = "matmul_bf16<false>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cuda_bf16.h>
#include <mma.h>

constexpr int kTile = 128;        // rows and columns of a block's tile
constexpr int kSlab = 32;         // k-steps in shared memory
constexpr int kStrideA = kSlab + 8;  // padding: rows of a fragment in different banks, 16-byte alignment kept
constexpr int kStrideB = kTile + 8;

// Eight elements of `row` of a row-major matrix from `column` on; zeros outside rows x columns. kVector: `columns`
// and `column` are multiples of 8.
template <bool kVector>
__device__ __forceinline__ uint4 Load8(const __nv_bfloat16* __restrict__ matrix, long long row, long long column,
                                       long long rows, long long columns) {
  uint4 pack = make_uint4(0, 0, 0, 0);
  if (row >= rows) return pack;
  const __nv_bfloat16* from = matrix + row * columns + column;
  if (kVector) {
    if (column < columns) pack = *reinterpret_cast<const uint4*>(from);
  } else {
    __nv_bfloat16* to = reinterpret_cast<__nv_bfloat16*>(&pack);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (column + j < columns) to[j] = from[j];
    }
  }
  return pack;
}

template <bool kVector>
__global__ void __launch_bounds__(256) matmul_bf16(const __nv_bfloat16* __restrict__ a,
                                                   const __nv_bfloat16* __restrict__ b,
                                                   __nv_bfloat16* __restrict__ c, long long m, long long n,
                                                   long long k) {
  namespace wmma = nvcuda::wmma;
  __shared__ __align__(32) __nv_bfloat16 a_slab[kTile * kStrideA];
  __shared__ __align__(32) __nv_bfloat16 b_slab[kSlab * kStrideB];
  __shared__ __align__(32) float results[8][16 * 16];  // a fragment per warp, on its way out
  // One grid dimension, because the others hold only 65535 tiles.
  const long long tiles_across = (n + kTile - 1) / kTile;
  const long long first_row = blockIdx.x / tiles_across * kTile;
  const long long first_column = blockIdx.x % tiles_across * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;

  // What this thread brings in: two packs of eight of each matrix.
  const int a_row = threadIdx.x / 4, a_step = threadIdx.x % 4 * 8;         // and a_row + 64
  const int b_step = threadIdx.x / 16, b_column = threadIdx.x % 16 * 8;    // and b_step + 16
  uint4 next_a[2], next_b[2];
  const auto fetch = [&](long long step) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      next_a[i] = Load8<kVector>(a, first_row + a_row + i * 64, step + a_step, m, k);
      next_b[i] = Load8<kVector>(b, step + b_step + i * 16, first_column + b_column, k, n);
    }
  };

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  }

  fetch(0);
  for (long long step = 0; step < k; step += kSlab) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<uint4*>(&a_slab[(a_row + i * 64) * kStrideA + a_step]) = next_a[i];
      *reinterpret_cast<uint4*>(&b_slab[(b_step + i * 16) * kStrideB + b_column]) = next_b[i];
    }
    __syncthreads();
    if (step + kSlab < k) fetch(step + kSlab);
#pragma unroll
    for (int s = 0; s < kSlab; s += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right[2];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        wmma::load_matrix_sync(left[i], &a_slab[(warp_row + i * 16) * kStrideA + s], kStrideA);
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        wmma::load_matrix_sync(right[j], &b_slab[s * kStrideB + warp_column + j * 16], kStrideB);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
      }
    }
    __syncthreads();
  }

  // Out by way of shared memory, because which lane holds which element of a fragment is not said.
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(results[warp], sum[i][j], 16, wmma::mem_row_major);
      __syncwarp();
      const long long row = first_row + warp_row + i * 16 + lane / 2;
      const long long column = first_column + warp_column + j * 16 + lane % 2 * 8;
      const float* from = &results[warp][lane / 2 * 16 + lane % 2 * 8];
      if (row < m) {
        if (kVector) {
          if (column < n) {
            uint4 pack;
            __nv_bfloat16* to = reinterpret_cast<__nv_bfloat16*>(&pack);
#pragma unroll
            for (int e = 0; e < 8; ++e) to[e] = __float2bfloat16_rn(from[e]);
            *reinterpret_cast<uint4*>(c + row * n + column) = pack;
          }
        } else {
          for (int e = 0; e < 8; ++e) {
            if (column + e < n) c[row * n + column + e] = __float2bfloat16_rn(from[e]);
          }
        }
      }
      __syncwarp();  // the next fragment overwrites `results`
    }
  }
}
