// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines __half and __half2 for the simulated GPU. The compiler's _Float16 does the conversions (one instruction with
// F16C); arithmetic is in detail/half_arithmetic.inc.
#pragma once

#include "detail/half_common.h"

struct __half_raw {
  unsigned short x;
};
struct alignas(4) __half2_raw {
  unsigned short x, y;
};

struct alignas(2) __half {
  unsigned short __x;

  __half() = default;
  HONE_SIM_INLINE __half(const __half_raw& raw) : __x(raw.x) {}
  HONE_SIM_INLINE __half& operator=(const __half_raw& raw) {
    __x = raw.x;
    return *this;
  }
  HONE_SIM_INLINE operator __half_raw() const { return __half_raw{__x}; }
  HONE_SIM_HALF_CONVERSIONS(__half)
};

namespace hone_sim {
HONE_SIM_INLINE unsigned short Bits(__half v) { return v.__x; }
// Opaque prevents a conversion from half to double in one step, which would be a library call.
HONE_SIM_INLINE float Widen(__half v) { return Opaque(static_cast<float>(__builtin_bit_cast(_Float16, v.__x))); }
template <>
HONE_SIM_INLINE __half FromBits<__half>(unsigned short bits) {
  __half h;
  h.__x = bits;
  return h;
}
template <>
HONE_SIM_INLINE __half NarrowFloat<__half>(float value) {
  // A GPU has only one NaN for results; other payloads would differ from it.
  if (value != value) return FromBits<__half>(0x7fff);
  return FromBits<__half>(__builtin_bit_cast(unsigned short, static_cast<_Float16>(value)));
}
}  // namespace hone_sim

struct alignas(4) __half2 {
  __half x, y;

  __half2() = default;
  HONE_SIM_INLINE __half2(const __half& a, const __half& b) : x(a), y(b) {}
  HONE_SIM_INLINE __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  HONE_SIM_INLINE operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

#define HONE_H __half
#define HONE_H2 __half2
#define HONE_H_NAME half
#define HONE_H_NAN 0x7fff
#include "detail/half_arithmetic.inc"
#undef HONE_H
#undef HONE_H2
#undef HONE_H_NAME
#undef HONE_H_NAN

HONE_SIM_INLINE __half2 __half2half2(__half v) { return __half2(v, v); }
HONE_SIM_INLINE __half2 make_half2(__half a, __half b) { return __half2(a, b); }

#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)
