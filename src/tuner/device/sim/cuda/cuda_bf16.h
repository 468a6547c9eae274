// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines __nv_bfloat16 and __nv_bfloat162 for the simulated GPU: the upper half of a float, rounded to nearest even.
// The oldest compiler supported (g++ 12) has no bfloat16, so the conversion is integer arithmetic.
#pragma once

#include "detail/half_common.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct alignas(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

struct alignas(2) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  HONE_SIM_INLINE __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  HONE_SIM_INLINE __nv_bfloat16& operator=(const __nv_bfloat16_raw& raw) {
    __x = raw.x;
    return *this;
  }
  HONE_SIM_INLINE operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
  HONE_SIM_HALF_CONVERSIONS(__nv_bfloat16)
};

namespace hone_sim {
HONE_SIM_INLINE unsigned short Bits(__nv_bfloat16 v) { return v.__x; }
HONE_SIM_INLINE float Widen(__nv_bfloat16 v) { return __uint_as_float(static_cast<unsigned>(v.__x) << 16); }
template <>
HONE_SIM_INLINE __nv_bfloat16 FromBits<__nv_bfloat16>(unsigned short bits) {
  __nv_bfloat16 h;
  h.__x = bits;
  return h;
}
template <>
HONE_SIM_INLINE __nv_bfloat16 NarrowFloat<__nv_bfloat16>(float value) {
  if (value != value) return FromBits<__nv_bfloat16>(0x7fff);
  const unsigned bits = __float_as_uint(value);
  return FromBits<__nv_bfloat16>(static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16));
}
}  // namespace hone_sim

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  HONE_SIM_INLINE __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
  HONE_SIM_INLINE __nv_bfloat162(const __nv_bfloat162_raw& raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  HONE_SIM_INLINE operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define HONE_H __nv_bfloat16
#define HONE_H2 __nv_bfloat162
#define HONE_H_NAME bfloat16
#define HONE_H_NAN 0x7fff
#include "detail/half_arithmetic.inc"
#undef HONE_H
#undef HONE_H2
#undef HONE_H_NAME
#undef HONE_H_NAN

HONE_SIM_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) { return __nv_bfloat162(v, v); }
HONE_SIM_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7fu)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000u)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80u)
