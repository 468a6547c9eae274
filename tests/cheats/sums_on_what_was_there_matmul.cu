// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts the sum in four and adds the parts to a workspace that nobody has zeroed: 0xa5 in every byte is a float of
// -3e-16.
//
// task: matmul_f32
// expect: wrong_output
// where: gpu
// timed: 0
/*hone
[[workspace]]
name  = "sums"
bytes = "m * n * 4"

[[launch]]
kernel = "matmul_f32<true>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128) * 4"]
block  = ["256"]
args   = ["a", "b", "sums", "m:i64", "n:i64", "k:i64"]
step   = 0
when   = "n % 4 == 0 && k % 4 == 0"

[[launch]]
kernel = "matmul_f32<false>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128) * 4"]
block  = ["256"]
args   = ["a", "b", "sums", "m:i64", "n:i64", "k:i64"]
step   = 0

[[launch]]
kernel = "copy"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["sums", "c", "m * n:i64", "k:i64"]
step   = 1
*/

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
  const long long tile = blockIdx.x / 4;
  const long long first_row = tile / tiles_across * kTile;
  const long long first_column = tile % tiles_across * kTile;
  const long long quarter = (k + 31) / 32 * kSlab, from_step = blockIdx.x % 4 * quarter,
                  to_step = min(k, from_step + quarter);

  // What this thread brings in: four of a row of `a`, four of a row of `b`.
  const int a_row = threadIdx.x / 2, a_step = threadIdx.x % 2 * 4;
  const int b_step = threadIdx.x / 32, b_column = threadIdx.x % 32 * 4;
  // What it computes: rows y + {0..3, 64..67}, columns x + {0..3, 64..67}.
  const int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4;

  float sum[8][8] = {};
  float4 next_a = Load4<kVector>(a, first_row + a_row, from_step + a_step, m, k);
  float4 next_b = Load4<kVector>(b, from_step + b_step, first_column + b_column, k, n);
  for (long long step = from_step; step < to_step; step += kSlab) {
    a_slab[a_step + 0][a_row] = next_a.x;
    a_slab[a_step + 1][a_row] = next_a.y;
    a_slab[a_step + 2][a_row] = next_a.z;
    a_slab[a_step + 3][a_row] = next_a.w;
    *reinterpret_cast<float4*>(&b_slab[b_step][b_column]) = next_b;
    __syncthreads();
    if (step + kSlab < to_step) {
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
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (column + j < n) atomicAdd(to + j, from[j]);
      }
    }
  }
}

__global__ void copy(const float* __restrict__ from, float* __restrict__ to, long long elements, long long k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < elements) to[i] = k > 0 ? from[i] : 0.0f;
}
