// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Three TF32 products of the tensor cores in place of one in float32: emulated, and as precise.
// The cores truncate where they accumulate, so every eight terms are added to the sum outside of them.
//
// task: matmul_f32
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "matmul"
grid   = ["ceil_div(n, 16)", "min(ceil_div(m, 16), 65535)"]
block  = ["32"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <mma.h>

using namespace nvcuda;

__global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  __shared__ float ta[2][16 * 8], tb[2][8 * 16], tc[16 * 16];
  const int lane = threadIdx.x;
  for (long long row0 = blockIdx.y * 16LL; row0 < m; row0 += gridDim.y * 16LL) {
    const long long column0 = blockIdx.x * 16LL;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (long long j = 0; j < k; j += 8) {
      __syncwarp();
      for (int q = lane; q < 128; q += 32) {
        const long long row = row0 + q / 8, column = column0 + q % 16;
        const float va = row < m && j + q % 8 < k ? a[row * k + j + q % 8] : 0.0f;
        const float vb = j + q / 16 < k && column < n ? b[(j + q / 16) * n + column] : 0.0f;
        // The large part has the ten bits TF32 keeps; what is left over goes into the small one.
        ta[0][q] = __uint_as_float(__float_as_uint(va) & 0xffffe000u);
        ta[1][q] = va - ta[0][q];
        tb[0][q] = __uint_as_float(__float_as_uint(vb) & 0xffffe000u);
        tb[1][q] = vb - tb[0][q];
      }
      __syncwarp();
      wmma::fragment<wmma::accumulator, 16, 16, 8, float> part;
      wmma::fill_fragment(part, 0.0f);
      for (int product = 0; product < 3; ++product) {
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, ta[product == 0], 8);
        wmma::load_matrix_sync(fb, tb[product == 1], 16);
        for (int q = 0; q < fa.num_elements; ++q) fa.x[q] = wmma::__float_to_tf32(fa.x[q]);
        for (int q = 0; q < fb.num_elements; ++q) fb.x[q] = wmma::__float_to_tf32(fb.x[q]);
        wmma::mma_sync(part, fa, fb, part);
      }
      for (int q = 0; q < sum.num_elements; ++q) sum.x[q] += part.x[q];
    }
    wmma::store_matrix_sync(tc, sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int q = lane; q < 256; q += 32) {
      if (row0 + q / 16 < m && column0 + q % 16 < n) c[(row0 + q / 16) * n + column0 + q % 16] = tc[q];
    }
    __syncwarp();
  }
}
