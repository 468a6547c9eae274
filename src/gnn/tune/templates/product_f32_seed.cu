// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// {{name}} as one would write it first: a block of 256 threads computes a tile of 64 x 64 results, 16 k-steps at a time
// through shared memory; a thread keeps 4 x 4 of them.{{split_words}}
{{plan}}
constexpr int kTile = 64;             // rows and columns of a block's tile
constexpr int kSlab = 16;             // k-steps in shared memory
constexpr int kStride = kTile + 4;    // padding: 16-byte alignment kept

// c [m, n] = a b over the k-steps of part blockIdx.y, which has part_steps of them, a multiple of kSlab.
__global__ void __launch_bounds__(256) product(const float* __restrict__ a, const float* __restrict__ b,
                                               {{to_type}}* __restrict__ c, long long m, long long n, long long k,
                                               long long part_steps) {
  __shared__ __align__(16) float a_slab[kSlab * kStride];
  __shared__ __align__(16) float b_slab[kSlab * kStride];
  const long long tiles_across = (n + kTile - 1) / kTile;
  const long long first_row = blockIdx.x / tiles_across * kTile;
  const long long first_column = blockIdx.x % tiles_across * kTile;
  const long long first_step = blockIdx.y * part_steps;
  const long long end_step = first_step + part_steps < k ? first_step + part_steps : k;
  const int across = threadIdx.x % 16, down = threadIdx.x / 16;
  float sum[4][4] = {};

  for (long long slab = first_step; slab < end_step; slab += kSlab) {
    // Threads side by side read what lies side by side.
    for (int i = threadIdx.x; i < kTile * kSlab; i += 256) {
      const int r = {{a_row}}, s = {{a_step}};
      const long long row = first_row + r, step = slab + s;
      a_slab[s * kStride + r] = row < m && step < end_step ? a[{{a_at}}] : 0.0f;
    }
    for (int i = threadIdx.x; i < kTile * kSlab; i += 256) {
      const int s = {{b_step}}, r = {{b_column}};
      const long long step = slab + s, column = first_column + r;
      b_slab[s * kStride + r] = column < n && step < end_step ? b[{{b_at}}] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kSlab; ++s) {
      const float4 left = *reinterpret_cast<const float4*>(&a_slab[s * kStride + down * 4]);
      const float4 right = *reinterpret_cast<const float4*>(&b_slab[s * kStride + across * 4]);
      const float l[4] = {left.x, left.y, left.z, left.w}, r[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += l[i] * r[j];
      }
    }
    __syncthreads();
  }

  {{to_type}}* to = c + blockIdx.y * m * n;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const long long row = first_row + down * 4 + i, column = first_column + across * 4 + j;
      if (row < m && column < n) to[row * n + column] = sum[i][j];
    }
  }
}
{{sum_parts}}
