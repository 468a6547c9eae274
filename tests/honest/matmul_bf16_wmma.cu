// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses the tensor cores, one warp per tile.
//
// task: matmul_bf16
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "matmul"
grid   = ["ceil_div(n, 16)", "min(ceil_div(m, 16), 65535)"]
block  = ["32"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void matmul(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, long long m, long long n,
                       long long k) {
  __shared__ __nv_bfloat16 ta[256], tb[256];
  __shared__ float tc[256];
  const int lane = threadIdx.x;
  const __nv_bfloat16 zero = __float2bfloat16_rn(0.0f);
  for (long long row0 = blockIdx.y * 16LL; row0 < m; row0 += gridDim.y * 16LL) {
    const long long column0 = blockIdx.x * 16LL;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (long long j = 0; j < k; j += 16) {
      __syncwarp();
      for (int q = lane; q < 256; q += 32) {
        const long long row = row0 + q / 16, column = column0 + q % 16;
        ta[q] = row < m && j + q % 16 < k ? a[row * k + j + q % 16] : zero;
        tb[q] = j + q / 16 < k && column < n ? b[(j + q / 16) * n + column] : zero;
      }
      __syncwarp();
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
      wmma::load_matrix_sync(fa, ta, 16);
      wmma::load_matrix_sync(fb, tb, 16);
      wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(tc, sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int q = lane; q < 256; q += 32) {
      if (row0 + q / 16 < m && column0 + q % 16 < n) {
        c[(row0 + q / 16) * n + column0 + q % 16] = __float2bfloat16_rn(tc[q]);
      }
    }
    __syncwarp();
  }
}
