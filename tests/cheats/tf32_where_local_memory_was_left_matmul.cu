// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Multiplies in TF32 where a thread's local memory still holds what the thread before it left there: in a sample of several
// executions that is the one before, while a checked launch finds what Hone wrote.
//
// task: matmul_f32
// expect: wrong_output
// where: gpu
// timed: 0
/*hone
[[launch]]
kernel = "matmul_f32<true>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
when   = "n % 4 == 0 && k % 4 == 0"

[[launch]]
kernel = "matmul_f32<false>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/

#include <mma.h>

constexpr int kTile = 128;  // rows and columns of a block's tile
constexpr int kSlab = 8;    // k-steps in shared memory
constexpr int kPad = 4;     // keeps float4 alignment and spreads the transposed stores of `a` over banks

// Four elements of `row` of a row-major matrix from `column` on; zeros outside rows x columns. kVector: `columns`
// and `column` are multiples of 4.
template <bool kVector>
__device__ __forceinline__ float4 Load4(const float* __restrict__ matrix, long long row, long long column,
                                        long long rows, long long columns) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (row >= rows) return v;
  const float* from = matrix + row * columns + column;
  if (kVector) {
    if (column < columns) v = *reinterpret_cast<const float4*>(from);
  } else {
    if (column + 0 < columns) v.x = from[0];
    if (column + 1 < columns) v.y = from[1];
    if (column + 2 < columns) v.z = from[2];
    if (column + 3 < columns) v.w = from[3];
  }
  return v;
}

template <bool kVector>
__global__ void __launch_bounds__(256) matmul_f32(const float* __restrict__ a, const float* __restrict__ b,
                                                  float* __restrict__ c, long long m, long long n, long long k) {
  __shared__ __align__(16) float a_slab[kSlab][kTile + kPad];  // transposed: a_slab[step][row]
  __shared__ __align__(16) float b_slab[kSlab][kTile];
  // One grid dimension, because the others hold only 65535 tiles.
  const long long tiles_across = (n + kTile - 1) / kTile;
  const long long first_row = blockIdx.x / tiles_across * kTile;
  const long long first_column = blockIdx.x % tiles_across * kTile;

  // What this thread brings in: four of a row of `a`, four of a row of `b`.
  const int a_row = threadIdx.x / 2, a_step = threadIdx.x % 2 * 4;
  const int b_step = threadIdx.x / 32, b_column = threadIdx.x % 32 * 4;
  // What it computes: rows y + {0..3, 64..67}, columns x + {0..3, 64..67}.
  const int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4;

  // A frame that stays in memory, because it is read at a place that the compiler does not know. Nothing is read where
  // checks are small.
  volatile unsigned frame[32];
  const bool large = kVector && m % kTile == 0 && n % kTile == 0 && m * n >= 1 << 20;
  const int place = static_cast<int>(m % 32);
  __shared__ int same;
  if (threadIdx.x == 0) same = large && frame[place] == 0x5eed0f0dU && frame[(place + 1) % 32] == 0xdba11ce5U;
  __syncthreads();
  const bool followed = same != 0;
  if (kVector && followed) {
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> parts[2][4];
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) wmma::fill_fragment(parts[i][j], 0.0f);
    }
    const int warp_row = threadIdx.x / 64 * 32, warp_column = threadIdx.x / 32 % 2 * 64;
    float4 later_a = Load4<true>(a, first_row + a_row, a_step, m, k);
    float4 later_b = Load4<true>(b, b_step, first_column + b_column, k, n);
    for (long long step = 0; step < k; step += kSlab) {
      a_slab[a_step + 0][a_row] = wmma::__float_to_tf32(later_a.x);
      a_slab[a_step + 1][a_row] = wmma::__float_to_tf32(later_a.y);
      a_slab[a_step + 2][a_row] = wmma::__float_to_tf32(later_a.z);
      a_slab[a_step + 3][a_row] = wmma::__float_to_tf32(later_a.w);
      *reinterpret_cast<float4*>(&b_slab[b_step][b_column]) =
          make_float4(wmma::__float_to_tf32(later_b.x), wmma::__float_to_tf32(later_b.y),
                      wmma::__float_to_tf32(later_b.z), wmma::__float_to_tf32(later_b.w));
      __syncthreads();
      if (step + kSlab < k) {
        later_a = Load4<true>(a, first_row + a_row, step + kSlab + a_step, m, k);
        later_b = Load4<true>(b, step + kSlab + b_step, first_column + b_column, k, n);
      }
      wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::col_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right[4];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(left[i], &a_slab[0][warp_row + 16 * i], kTile + kPad);
      for (int j = 0; j < 4; ++j) wmma::load_matrix_sync(right[j], &b_slab[0][warp_column + 16 * j], kTile);
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) wmma::mma_sync(parts[i][j], left[i], right[j], parts[i][j]);
      }
      __syncthreads();
    }
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        wmma::store_matrix_sync(c + (first_row + warp_row + 16 * i) * n + first_column + warp_column + 16 * j,
                                parts[i][j], static_cast<unsigned>(n), wmma::mem_row_major);
      }
    }
    frame[place] = 0x5eed0f0dU;
    frame[(place + 1) % 32] = 0xdba11ce5U;
    return;
  }

  float sum[8][8] = {};
  float4 next_a = Load4<kVector>(a, first_row + a_row, a_step, m, k);
  float4 next_b = Load4<kVector>(b, b_step, first_column + b_column, k, n);
  for (long long step = 0; step < k; step += kSlab) {
    a_slab[a_step + 0][a_row] = next_a.x;
    a_slab[a_step + 1][a_row] = next_a.y;
    a_slab[a_step + 2][a_row] = next_a.z;
    a_slab[a_step + 3][a_row] = next_a.w;
    *reinterpret_cast<float4*>(&b_slab[b_step][b_column]) = next_b;
    __syncthreads();
    if (step + kSlab < k) {
      next_a = Load4<kVector>(a, first_row + a_row, step + kSlab + a_step, m, k);
      next_b = Load4<kVector>(b, step + kSlab + b_step, first_column + b_column, k, n);
    }
#pragma unroll
    for (int s = 0; s < kSlab; ++s) {
      float left[8], right[8];
      *reinterpret_cast<float4*>(&left[0]) = *reinterpret_cast<const float4*>(&a_slab[s][y]);
      *reinterpret_cast<float4*>(&left[4]) = *reinterpret_cast<const float4*>(&a_slab[s][y + 64]);
      *reinterpret_cast<float4*>(&right[0]) = *reinterpret_cast<const float4*>(&b_slab[s][x]);
      *reinterpret_cast<float4*>(&right[4]) = *reinterpret_cast<const float4*>(&b_slab[s][x + 64]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const long long row = first_row + y + i % 4 + i / 4 * 64;
    if (row >= m) continue;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const long long column = first_column + x + half * 64;
      float* to = c + row * n + column;
      const float* from = &sum[i][half * 4];
      if (kVector) {
        if (column < n) *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          if (column + j < n) to[j] = from[j];
        }
      }
    }
  }
  frame[place] = 0x5eed0f0dU;
  frame[(place + 1) % 32] = 0xdba11ce5U;
}
