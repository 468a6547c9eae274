// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Four threads take a block of 32 numbers: eight each, one load of 16 bytes and one store of four. The largest exponent is found on the bits of
// bfloat16. Rows whose blocks are not whole take a warp a block.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "quantize"
grid   = ["ceil_div(rows * pairs / 4, BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "scale", "rows * pairs / 4:i64"]
when   = "pairs % 16 == 0"

[[launch]]
kernel = "quantize_any"
grid   = ["ceil_div(rows * ceil_div(pairs, 16), BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "out", "scale", "rows * ceil_div(pairs, 16):i64", "pairs:i32"]
*/
#include <cuda_bf16.h>
#include <cuda_fp4.h>

// The byte of a block's scale from the bits of its largest number without a sign: the exponent field less 2. A subnormal number's scale is
// 2^-127, whose byte is 0.
__device__ __forceinline__ unsigned ScaleOf(unsigned largest) {
  const unsigned exponent = largest >> 7;
  return exponent > 2 ? exponent - 2 : 0;
}

// 1 / 2^(byte - 127), as two factors that are normal numbers.
__device__ __forceinline__ float Divide(float x, unsigned byte) {
  const int exponent = 127 - static_cast<int>(byte), half = exponent / 2;
  return x * __uint_as_float(static_cast<unsigned>(half + 127) << 23) * __uint_as_float(static_cast<unsigned>(exponent - half + 127) << 23);
}

__device__ __forceinline__ float Bits(unsigned bfloat16) { return __uint_as_float(bfloat16 << 16); }

__device__ __forceinline__ unsigned Pack(float first, float second) {
  return __nv_cvt_float2_to_fp4x2(make_float2(first, second), __NV_E2M1, cudaRoundNearest);
}

__global__ void quantize(const __nv_bfloat16* __restrict__ x, unsigned char* __restrict__ out, unsigned char* __restrict__ scale, long long eights) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  // All 32 lanes take part in the shuffles; those behind the end have zeros.
  uint4 eight = make_uint4(0, 0, 0, 0);
  if (i < eights) eight = reinterpret_cast<const uint4*>(x)[i];
  const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
  unsigned largest = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) largest = max(largest, max(words[k] & 0x7fffu, (words[k] >> 16) & 0x7fffu));
  largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
  largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
  if (i >= eights) return;
  const unsigned byte = ScaleOf(largest);
  unsigned packed = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) packed |= Pack(Divide(Bits(words[k] & 0xffffu), byte), Divide(Bits(words[k] >> 16), byte)) << (8 * k);
  reinterpret_cast<unsigned*>(out)[i] = packed;
  if (i % 4 == 0) scale[i / 4] = static_cast<unsigned char>(byte);
}

__global__ void quantize_any(const __nv_bfloat16* __restrict__ x, unsigned char* __restrict__ out, unsigned char* __restrict__ scale,
                             long long count, int pairs) {
  const long long n = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (n >= count) return;  // whole warps
  const int blocks = (pairs + 15) / 16, column = static_cast<int>(n % blocks) * 32 + lane;
  const long long row = n / blocks;
  const unsigned mine = column < 2 * pairs ? __bfloat16_as_ushort(x[row * 2 * pairs + column]) : 0u;
  unsigned largest = mine & 0x7fffu;
  for (int offset = 16; offset > 0; offset /= 2) largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  const unsigned byte = ScaleOf(largest);
  const float value = Divide(Bits(mine), byte), next = __shfl_down_sync(0xffffffffu, value, 1);
  if (lane % 2 == 0 && column < 2 * pairs) out[row * pairs + column / 2] = static_cast<unsigned char>(Pack(value, next));
  if (lane == 0) scale[n] = static_cast<unsigned char>(byte);
}
