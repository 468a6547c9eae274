// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp has a row; a lane takes 16 bytes at a time, two blocks with two scales. A code of 4 bits becomes a half by a shift: its exponent then
// stands 14 below its worth, in each factor, and 2^28 in the scale puts that right. Products of two codes are added up in float32. Rows whose
// bytes are no multiple of 16 take a lane a byte.
/*hone
[[launch]]
kernel = "multiply"
grid   = ["ceil_div(batch * m, 8)"]
block  = ["256"]
args   = ["a", "a_scale", "b", "b_scale", "y", "batch * m:i32", "m:i32", "pairs:i32"]
when   = "pairs % 16 == 0"

[[launch]]
kernel = "multiply_any"
grid   = ["ceil_div(batch * m, 8)"]
block  = ["256"]
args   = ["a", "a_scale", "b", "b_scale", "y", "batch * m:i32", "m:i32", "pairs:i32"]
*/
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// The codes at bits 0 and 16 of `word`, as halves that are 2^14 too small.
__device__ __forceinline__ float2 Halves(unsigned word) {
  const unsigned bits = ((word & 0x00080008u) << 12) | ((word & 0x00070007u) << 9);
  return __half22float2(*reinterpret_cast<const __half2*>(&bits));
}

// The sum of products of the eight codes of two words, 2^28 too small.
__device__ __forceinline__ float Products(unsigned left, unsigned right) {
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 l = Halves(left >> (4 * k)), r = Halves(right >> (4 * k));
    sum += l.x * r.x + l.y * r.y;
  }
  return sum;
}

__global__ void __launch_bounds__(256)
    multiply(const unsigned char* __restrict__ a, const __nv_fp8_e4m3* __restrict__ a_scale, const unsigned char* __restrict__ b,
             const __nv_fp8_e4m3* __restrict__ b_scale, __half* __restrict__ y, int rows, int m, int pairs) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const long long of_a = static_cast<long long>(row) * pairs, of_b = static_cast<long long>(row / m) * pairs;
  float sum = 0.0f;
#pragma unroll 4
  for (int i = lane * 16; i < pairs; i += 512) {
    const uint4 left = *reinterpret_cast<const uint4*>(a + of_a + i), right = *reinterpret_cast<const uint4*>(b + of_b + i);
    const __nv_fp8_e4m3* const s = a_scale + (of_a + i) / 8;
    const __nv_fp8_e4m3* const t = b_scale + (of_b + i) / 8;
    sum += (Products(left.x, right.x) + Products(left.y, right.y)) * (static_cast<float>(s[0]) * static_cast<float>(t[0]));
    sum += (Products(left.z, right.z) + Products(left.w, right.w)) * (static_cast<float>(s[1]) * static_cast<float>(t[1]));
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = __float2half(sum * 0x1p28f);
}

__global__ void multiply_any(const unsigned char* __restrict__ a, const __nv_fp8_e4m3* __restrict__ a_scale, const unsigned char* __restrict__ b,
                             const __nv_fp8_e4m3* __restrict__ b_scale, __half* __restrict__ y, int rows, int m, int pairs) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const long long of_a = static_cast<long long>(row) * pairs, of_b = static_cast<long long>(row / m) * pairs;
  const long long blocks = (pairs + 7) / 8;
  float sum = 0.0f;
  for (int i = lane; i < pairs; i += 32) {
    const unsigned left = a[of_a + i], right = b[of_b + i];
    const float2 l = Halves((left & 15u) | ((left & 0xf0u) << 12)), r = Halves((right & 15u) | ((right & 0xf0u) << 12));
    sum += (l.x * r.x + l.y * r.y) *
           (static_cast<float>(a_scale[row * blocks + i / 8]) * static_cast<float>(b_scale[row / m * blocks + i / 8]));
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = __float2half(sum * 0x1p28f);
}
