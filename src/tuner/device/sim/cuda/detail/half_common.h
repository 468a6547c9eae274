// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements rounding for __half and __nv_bfloat16: every conversion and fused operation rounds once, to nearest even,
// whatever the width of its input. halves_test.cc compares all of it with a double reference.
#pragma once

#include "atomics.h"
#include "fast_math.h"
#include "warp.h"

struct __half;
struct __nv_bfloat16;

namespace hone_sim {

// Each of the two headers defines these functions for its type. NarrowFloat rounds to nearest even.
unsigned short Bits(__half v);
unsigned short Bits(__nv_bfloat16 v);
float Widen(__half v);
float Widen(__nv_bfloat16 v);
template <typename H>
H FromBits(unsigned short bits);
template <typename H>
H NarrowFloat(float value);
template <>
__half FromBits<__half>(unsigned short bits);
template <>
__half NarrowFloat<__half>(float value);
template <>
__nv_bfloat16 FromBits<__nv_bfloat16>(unsigned short bits);
template <>
__nv_bfloat16 NarrowFloat<__nv_bfloat16>(float value);

// Converts a double to a float "rounded to odd": inexact results keep a set last bit, so that a second rounding to 16
// bits knows on which side of a midpoint the double was.
HONE_SIM_INLINE float ToOddFloat(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value) return nearest;
  unsigned bits = __float_as_uint(nearest);
  if (__builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(value)) --bits;
  return __uint_as_float(bits | 1u);
}

template <typename H>
HONE_SIM_INLINE auto Narrow(float value) {
  return NarrowFloat<H>(value);
}
template <typename H>
HONE_SIM_INLINE auto Narrow(double value) {
  return NarrowFloat<H>(ToOddFloat(value));
}

// Rounds in a direction: the nearest value, moved by one step if it is on the wrong side.
template <typename H, Rounding kRounding>
HONE_SIM_INLINE auto NarrowDirected(double value) {
  const H nearest = Narrow<H>(value);
  const double back = Widen(nearest);
  if (kRounding == Rounding::kNearest || back == value || value != value) return nearest;
  const unsigned short bits = Bits(nearest);
  const bool negative = (bits >> 15) != 0;
  bool toward_zero = false, away = false;
  if (kRounding == Rounding::kZero) toward_zero = __builtin_fabs(back) > __builtin_fabs(value);
  if (kRounding == Rounding::kDown && back > value) (negative ? away : toward_zero) = true;
  if (kRounding == Rounding::kUp && back < value) (negative ? toward_zero : away) = true;
  if (toward_zero) return FromBits<H>(static_cast<unsigned short>(bits - 1));
  if (away) return FromBits<H>(static_cast<unsigned short>(bits + 1));
  return nearest;
}

// 64-bit integers do not fit a double: their low bits are folded into a sticky one first.
template <typename H, Rounding kRounding, typename Int>
HONE_SIM_INLINE auto NarrowInteger(Int value) {
  if (sizeof(Int) < 8) return NarrowDirected<H, kRounding>(static_cast<double>(value));
  const bool negative = value < 0;
  unsigned long long magnitude =
      negative ? 0ull - static_cast<unsigned long long>(value) : static_cast<unsigned long long>(value);
  if (magnitude >> 40) magnitude = (magnitude & ~0xfffffull) | ((magnitude & 0xfffffull) ? 0x80000ull : 0ull);
  const double exact = static_cast<double>(magnitude);
  return NarrowDirected<H, kRounding>(negative ? -exact : exact);
}

// Products of two 16-bit values are exact in float until they approach its denormals.
template <typename H>
HONE_SIM_INLINE auto Product(H a, H b) {
  const float p = Opaque(Widen(a) * Widen(b));
  if (__builtin_fabsf(p) < 1e-30f) return Narrow<H>(static_cast<double>(Widen(a)) * static_cast<double>(Widen(b)));
  return Narrow<H>(p);
}

// a * b is exact in double; the sum is rounded to odd (two-sum computes the lost part), then once to 16 bits.
template <typename H>
HONE_SIM_INLINE auto FusedMultiplyAdd(H a, H b, H c) {
  const double p = Opaque(static_cast<double>(Widen(a)) * static_cast<double>(Widen(b)));
  const double q = Widen(c), s = Opaque(p + q), back = Opaque(s - p);
  const double lost = Opaque(p - Opaque(s - back)) + Opaque(q - back);
  if (lost == 0 || lost != lost) return Narrow<H>(s);
  unsigned long long bits = __builtin_bit_cast(unsigned long long, s);
  if ((bits & 1u) == 0) bits = (lost > 0) == (s > 0) ? bits | 1u : bits - 1u;
  return Narrow<H>(__builtin_bit_cast(double, bits));
}

}  // namespace hone_sim

// Defines the implicit conversions of both types from and to the arithmetic types.
#define HONE_SIM_HALF_CONVERSIONS(H)                                                       \
  HONE_SIM_INLINE H(float v) { *this = hone_sim::Narrow<H>(v); }                           \
  HONE_SIM_INLINE H(double v) { *this = hone_sim::Narrow<H>(v); }                          \
  HONE_SIM_HALF_INTEGER(H, short)                                                          \
  HONE_SIM_HALF_INTEGER(H, unsigned short)                                                 \
  HONE_SIM_HALF_INTEGER(H, int)                                                            \
  HONE_SIM_HALF_INTEGER(H, unsigned)                                                       \
  HONE_SIM_HALF_INTEGER(H, long)                                                           \
  HONE_SIM_HALF_INTEGER(H, unsigned long)                                                  \
  HONE_SIM_HALF_INTEGER(H, long long)                                                      \
  HONE_SIM_HALF_INTEGER(H, unsigned long long)                                             \
  HONE_SIM_INLINE H& operator=(float v) { return *this = hone_sim::Narrow<H>(v); }         \
  HONE_SIM_INLINE H& operator=(double v) { return *this = hone_sim::Narrow<H>(v); }        \
  HONE_SIM_INLINE operator float() const { return hone_sim::Widen(*this); }                \
  HONE_SIM_INLINE operator bool() const { return (hone_sim::Bits(*this) & 0x7fffu) != 0; } \
  HONE_SIM_HALF_TO_INTEGER(char)                                                           \
  HONE_SIM_HALF_TO_INTEGER(signed char)                                                    \
  HONE_SIM_HALF_TO_INTEGER(unsigned char)                                                  \
  HONE_SIM_HALF_TO_INTEGER(short)                                                          \
  HONE_SIM_HALF_TO_INTEGER(unsigned short)                                                 \
  HONE_SIM_HALF_TO_INTEGER(int)                                                            \
  HONE_SIM_HALF_TO_INTEGER(unsigned)                                                       \
  HONE_SIM_HALF_TO_INTEGER(long)                                                           \
  HONE_SIM_HALF_TO_INTEGER(unsigned long)                                                  \
  HONE_SIM_HALF_TO_INTEGER(long long)                                                      \
  HONE_SIM_HALF_TO_INTEGER(unsigned long long)
#define HONE_SIM_HALF_INTEGER(H, T)                                                               \
  HONE_SIM_INLINE H(T v) { *this = hone_sim::NarrowInteger<H, hone_sim::Rounding::kNearest>(v); } \
  HONE_SIM_INLINE H& operator=(T v) { return *this = hone_sim::NarrowInteger<H, hone_sim::Rounding::kNearest>(v); }
#define HONE_SIM_HALF_TO_INTEGER(T)                                                           \
  HONE_SIM_INLINE operator T() const {                                                        \
    return hone_sim::SaturatingConvert<T, hone_sim::Rounding::kZero>(hone_sim::Widen(*this)); \
  }
