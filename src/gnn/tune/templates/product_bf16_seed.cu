// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// {{name}} as one would write it first: tensor cores through wmma. A block of eight warps computes a tile of 64 x 64 results,
// 32 k-steps at a time through shared memory; a warp keeps 16 x 32 of them in fragments.{{split_words}}
{{plan}}
#include <cuda_bf16.h>
#include <mma.h>

constexpr int kTile = 64;            // rows and columns of a block's tile
constexpr int kSlab = 32;            // k-steps in shared memory
constexpr int kStrideA = kSlab + 8;  // with padding, so that a fragment's rows are in different banks
constexpr int kStrideB = kTile + 8;

// c [m, n] = a b over the k-steps of part blockIdx.y, which has part_steps of them, a multiple of kSlab.
__global__ void __launch_bounds__(256) product(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                                               {{to_type}}* __restrict__ c, long long m, long long n, long long k,
                                               long long part_steps) {
  namespace wmma = nvcuda::wmma;
  __shared__ __align__(32) __nv_bfloat16 a_slab[kTile * kStrideA];
  __shared__ __align__(32) __nv_bfloat16 b_slab[kSlab * kStrideB];
  __shared__ __align__(32) float results[8][16 * 16];  // a fragment per warp, on its way out
  const long long tiles_across = (n + kTile - 1) / kTile;
  const long long first_row = blockIdx.x / tiles_across * kTile;
  const long long first_column = blockIdx.x % tiles_across * kTile;
  const long long first_step = blockIdx.y * part_steps;
  const long long end_step = first_step + part_steps < k ? first_step + part_steps : k;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / 2 * 16, warp_column = warp % 2 * 32;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2];
#pragma unroll
  for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[j], 0.0f);

  for (long long slab = first_step; slab < end_step; slab += kSlab) {
    // Threads side by side read what lies side by side.
    for (int i = threadIdx.x; i < kTile * kSlab; i += 256) {
      const int r = {{a_row}}, s = {{a_step}};
      const long long row = first_row + r, step = slab + s;
      a_slab[r * kStrideA + s] = row < m && step < end_step ? a[{{a_at}}] : __nv_bfloat16(0.0f);
    }
    for (int i = threadIdx.x; i < kTile * kSlab; i += 256) {
      const int s = {{b_step}}, r = {{b_column}};
      const long long step = slab + s, column = first_column + r;
      b_slab[s * kStrideB + r] = column < n && step < end_step ? b[{{b_at}}] : __nv_bfloat16(0.0f);
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kSlab; s += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
      wmma::load_matrix_sync(left, &a_slab[warp_row * kStrideA + s], kStrideA);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
        wmma::load_matrix_sync(right, &b_slab[s * kStrideB + warp_column + j * 16], kStrideB);
        wmma::mma_sync(sum[j], left, right, sum[j]);
      }
    }
    __syncthreads();
  }

  // Out by way of shared memory, because which lane holds which element of a fragment is not said.
  {{to_type}}* to = c + blockIdx.y * m * n;
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    wmma::store_matrix_sync(results[warp], sum[j], 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32) {
      const long long row = first_row + warp_row + i / 16, column = first_column + warp_column + j * 16 + i % 16;
      if (row < m && column < n) to[row * n + column] = static_cast<{{to_type}}>(results[warp][i]);
    }
    __syncwarp();  // the next fragment overwrites `results`
  }
}
{{sum_parts}}
