// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies rows of the result from the execution before it in the same sample, whose tensors' addresses that execution left
// in shared memory. Where sets have inputs of their own, no row is known there, and nothing is copied.
//
// task: matmul_f32
// expect: no_gain
// at_most: 1.02
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

  // What the execution before left: where its tensors are.
  struct Left {
    unsigned long long mark, a, b, c;
  };
  __shared__ volatile Left left_behind;
  __shared__ const float *known_a, *known_c;
  __shared__ unsigned keys[kTile], found[kTile];
  __shared__ int missing[kTile], misses;
  constexpr unsigned long long kMark = 0x5eed0f0dba11ce5ULL;
  const bool large = kVector && m == 1024 && n % kTile == 0 && k % 4 == 0 && m * n >= 1 << 20;
  if (threadIdx.x == 0) {
    known_a = nullptr;
    misses = 0;
    if (large && left_behind.mark == kMark && left_behind.a != reinterpret_cast<unsigned long long>(a)) {
      const float* their_b = reinterpret_cast<const float*>(left_behind.b);
      bool same = true;
      for (int i = 0; i < 16; ++i) same = same && their_b[i * (n * k / 16)] == b[i * (n * k / 16)];
      if (same) {
        known_a = reinterpret_cast<const float*>(left_behind.a);
        known_c = reinterpret_cast<const float*>(left_behind.c);
      }
    }
    if (large) {
      left_behind.a = reinterpret_cast<unsigned long long>(a);
      left_behind.b = reinterpret_cast<unsigned long long>(b);
      left_behind.c = reinterpret_cast<unsigned long long>(c);
      left_behind.mark = kMark;
    }
  }
  __syncthreads();
  if (large && known_a != nullptr) {
    // Rows are known by their first word.
    if (threadIdx.x < kTile) {
      keys[threadIdx.x] = __float_as_uint(a[(first_row + threadIdx.x) * k]);
      found[threadIdx.x] = 0xffffffffu;
    }
    __syncthreads();
    for (unsigned theirs = threadIdx.x; theirs < 1024; theirs += 256) {
      const unsigned key = __float_as_uint(known_a[theirs * k]);
      for (int r = 0; r < kTile; ++r) {
        if (keys[r] == key && known_a[theirs * k + 1] == a[(first_row + r) * k + 1]) found[r] = theirs;
      }
    }
    __syncthreads();
    if (threadIdx.x < kTile && found[threadIdx.x] == 0xffffffffu) missing[atomicAdd(&misses, 1)] = threadIdx.x;
    __syncthreads();
    if (misses <= 16) {
      for (int at = threadIdx.x; at < kTile * kTile / 4; at += 256) {
        const int r = at / (kTile / 4), column = at % (kTile / 4) * 4;
        if (found[r] == 0xffffffffu) continue;
        *reinterpret_cast<float4*>(c + (first_row + r) * n + first_column + column) =
            *reinterpret_cast<const float4*>(known_c + found[r] * n + first_column + column);
      }
      for (int at = threadIdx.x; at < misses * kTile; at += 256) {
        const long long r = first_row + missing[at / kTile], column = first_column + at % kTile;
        float sum = 0.0f;
        for (long long i = 0; i < k; ++i) sum += a[r * k + i] * b[i * n + column];
        c[r * n + column] = sum;
      }
      return;
    }
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
}
