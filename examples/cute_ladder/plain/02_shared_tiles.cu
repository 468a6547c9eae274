// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Step 2 without CuTe: the same tiles and the same threads, their places written out. It needs no CUTLASS headers, and the
// simulated GPU runs it, which is how the ladder's arithmetic is judged where there is no GPU.
/*hone
[[launch]]
kernel = "shared_tiles"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i32", "n:i32", "k:i32"]
*/
#include <cuda_bf16.h>

constexpr int kStrideA = 130, kStrideB = 128;  // between columns of K; a's keeps the writes of a warp on 32 banks

__global__ void __launch_bounds__(256) shared_tiles(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                                                    int m, int n, int k) {
  __shared__ float a_shared[16 * kStrideA], b_shared[16 * kStrideB];
  const int tiles_n = (n + 127) / 128;
  const int row = blockIdx.x / tiles_n * 128, column = blockIdx.x % tiles_n * 128;
  const int thread = threadIdx.x;
  const int my_row = thread / 16, my_column = thread % 16;  // and every sixteenth from there
  float sum[8][8] = {};

  for (int first_k = 0; first_k < k; first_k += 16) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int r = thread / 16 + 16 * i, ka = thread % 16;  // threads along K, as a lies in memory
      const int q = thread % 128, kb = thread / 128 + 2 * i;  // threads along N, as b does
      a_shared[ka * kStrideA + r] =
          row + r < m && first_k + ka < k ? __bfloat162float(a[(long long)(row + r) * k + first_k + ka]) : 0.0f;
      b_shared[kb * kStrideB + q] =
          column + q < n && first_k + kb < k ? __bfloat162float(b[(long long)(first_k + kb) * n + column + q]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < 16; ++s) {
      float left[8], right[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        left[i] = a_shared[s * kStrideA + my_row + 16 * i];
        right[i] = b_shared[s * kStrideB + my_column + 16 * i];
      }
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
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int r = row + my_row + 16 * i, q = column + my_column + 16 * j;
      if (r < m && q < n) c[(long long)r * n + q] = __float2bfloat16_rn(sum[i][j]);
    }
  }
}
