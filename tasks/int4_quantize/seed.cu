// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sixteen threads take a group of 128 numbers: eight each, one load of 16 bytes and one store of four. Other widths take a warp a group, whose
// lanes read two numbers at a time.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "quantize"
grid   = ["ceil_div(rows * (columns / 8), BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "scale", "rows * (columns / 8):i64"]
when   = "columns % 128 == 0"

[[launch]]
kernel = "quantize_any"
grid   = ["ceil_div(rows * ceil_div(columns, 128), BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "out", "scale", "rows * ceil_div(columns, 128):i64", "columns:i32"]
*/
#include <cuda_bf16.h>

__device__ __forceinline__ unsigned Code(float x, float scale) { return static_cast<unsigned>(__float2int_rn(x / scale)) & 15u; }

__global__ void quantize(const __nv_bfloat16* __restrict__ x, unsigned char* __restrict__ out, float* __restrict__ scale, long long eights) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  // All 32 lanes take part in the shuffles; those behind the end have zeros.
  uint4 eight = make_uint4(0, 0, 0, 0);
  if (i < eights) eight = reinterpret_cast<const uint4*>(x)[i];
  const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
  float values[8], largest = 1e-10f;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    values[k] = __uint_as_float(k % 2 == 0 ? words[k / 2] << 16 : words[k / 2] & 0xffff0000u);
    largest = fmaxf(largest, fabsf(values[k]));
  }
#pragma unroll
  for (int offset = 1; offset < 16; offset *= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  if (i >= eights) return;
  const float of_group = largest / 7.0f;
  unsigned packed = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) packed |= Code(values[k], of_group) << (4 * k);
  reinterpret_cast<unsigned*>(out)[i] = packed;
  if (i % 16 == 0) scale[i / 16] = of_group;
}

__global__ void quantize_any(const __nv_bfloat16* __restrict__ x, unsigned char* __restrict__ out, float* __restrict__ scale, long long count,
                             int columns) {
  const long long n = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (n >= count) return;  // whole warps
  const int groups = (columns + 127) / 128, first = static_cast<int>(n % groups) * 128;
  const long long row = n / groups;
  float values[4], largest = 1e-10f;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int column = first + k / 2 * 64 + 2 * lane + k % 2;
    values[k] = column < columns ? __bfloat162float(x[row * columns + column]) : 0.0f;
    largest = fmaxf(largest, fabsf(values[k]));
  }
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  const float of_group = largest / 7.0f;
#pragma unroll
  for (int k = 0; k < 4; k += 2) {
    const int column = first + k / 2 * 64 + 2 * lane;
    if (column < columns) {
      out[row * ((columns + 1) / 2) + column / 2] = static_cast<unsigned char>(Code(values[k], of_group) | Code(values[k + 1], of_group) << 4);
    }
  }
  if (lane == 0) scale[n] = of_group;
}
