// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Four threads take a block of 32 floats: four bytes each, eight numbers, one store of 16 bytes. A float of 4 bits is a bfloat16 whose
// exponent begins 126 too low, which one exact product with a power of two puts right. Rows whose blocks are not whole take a thread a byte.
/*hone
[[launch]]
kernel = "widen"
grid   = ["ceil_div(rows * pairs / 4, 256)"]
block  = ["256"]
args   = ["w", "scale", "out", "rows * pairs / 4:i64"]
when   = "pairs % 16 == 0"

[[launch]]
kernel = "widen_any"
grid   = ["ceil_div(rows * pairs, 256)"]
block  = ["256"]
args   = ["w", "scale", "out", "rows * pairs:i64", "pairs:i32"]
*/
#include <cuda_bf16.h>

// 2^(byte - 127) as float; 2^-127 is subnormal there.
__device__ __forceinline__ float PowerOf(unsigned byte) { return __uint_as_float(byte == 0 ? 0x00400000u : byte << 23); }

// Two codes of a byte as floats, times `power`.
__device__ __forceinline__ float2 Widen(unsigned byte, float power) {
  // Exponent and mantissa go where those of a float are, 126 below their worth; float's subnormal numbers are kept.
  const float first = __uint_as_float((byte & 7u) << 22) * 0x1p126f, second = __uint_as_float(((byte >> 4) & 7u) << 22) * 0x1p126f;
  return make_float2((byte & 8u) != 0 ? -first * power : first * power, (byte & 128u) != 0 ? -second * power : second * power);
}

__global__ void widen(const unsigned char* __restrict__ w, const unsigned char* __restrict__ scale, __nv_bfloat16* __restrict__ out,
                      long long words) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= words) return;
  const unsigned four = reinterpret_cast<const unsigned*>(w)[i];
  const float power = PowerOf(scale[i / 4]);
  unsigned made[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 two = Widen((four >> (8 * k)) & 255u, power);
    const __nv_bfloat162 pair = __floats2bfloat162_rn(two.x, two.y);
    made[k] = *reinterpret_cast<const unsigned*>(&pair);
  }
  reinterpret_cast<uint4*>(out)[i] = make_uint4(made[0], made[1], made[2], made[3]);
}

__global__ void widen_any(const unsigned char* __restrict__ w, const unsigned char* __restrict__ scale, __nv_bfloat16* __restrict__ out,
                          long long bytes, int pairs) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= bytes) return;
  const float2 two = Widen(w[i], PowerOf(scale[i / pairs * ((pairs + 15) / 16) + i % pairs / 16]));
  out[2 * i] = __float2bfloat16(two.x);
  out[2 * i + 1] = __float2bfloat16(two.y);
}
