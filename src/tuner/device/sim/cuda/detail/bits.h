// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements integer intrinsics, reinterpretations and rounding conversions of CUDA, bit for bit.
#pragma once

#include <math.h>

#include "qualifiers.h"
#include "vector_types.h"

namespace hone_sim {

// Returns the same value, but hides it from the optimizer: the results of `__fmul_rn` and similar functions must not be
// contracted into a following addition, which the simulator's compiler otherwise does as nvcc does.
#if defined(__x86_64__)
#define HONE_SIM_FLOAT_REGISTER "+x"
#else
#define HONE_SIM_FLOAT_REGISTER "+w"
#endif
template <typename T>
HONE_SIM_INLINE auto Opaque(T value) {
  asm("" : HONE_SIM_FLOAT_REGISTER(value));
  return value;
}

// Rounds a float or double to an integral value in the given direction; the library calls compile to one
// instruction. kNearest is to even.
enum class Rounding { kNearest, kZero, kDown, kUp };

template <Rounding kRounding, typename T>
HONE_SIM_INLINE auto RoundToIntegral(T value) {
  if (kRounding == Rounding::kNearest) return static_cast<T>(__builtin_rint(value));
  if (kRounding == Rounding::kZero) return static_cast<T>(__builtin_trunc(value));
  if (kRounding == Rounding::kDown) return static_cast<T>(__builtin_floor(value));
  return static_cast<T>(__builtin_ceil(value));
}

// GPU conversions saturate and turn NaN into 0 (or, for 64-bit targets, into the sign bit alone);
// in C++ both are undefined.
template <typename Int, Rounding kRounding, typename T>
HONE_SIM_INLINE auto SaturatingConvert(T value) {
  constexpr bool kSigned = static_cast<Int>(-1) < static_cast<Int>(0);
  constexpr int kBits = static_cast<int>(sizeof(Int)) * 8;
  constexpr Int kMin = kSigned ? static_cast<Int>(static_cast<Int>(1) << (kBits - 1)) : static_cast<Int>(0);
  constexpr Int kMax = static_cast<Int>(~kMin);
  if (value != value) return kBits == 64 ? static_cast<Int>(1ull << 63) : static_cast<Int>(0);
  const T rounded = RoundToIntegral<kRounding>(value);
  // 2^(bits - sign) is exact in T where kMax may not be.
  const T limit = static_cast<T>(2) * static_cast<T>(1ull << (kBits - (kSigned ? 2 : 1)));
  if (rounded >= limit) return kMax;
  if (kSigned ? rounded < -limit : rounded < static_cast<T>(0)) return kMin;
  return static_cast<Int>(rounded);
}

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

}  // namespace hone_sim

// --- reinterpretation ---
HONE_SIM_INLINE int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
HONE_SIM_INLINE unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
HONE_SIM_INLINE float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
HONE_SIM_INLINE float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
HONE_SIM_INLINE long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
HONE_SIM_INLINE double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
HONE_SIM_INLINE int __double2hiint(double v) { return static_cast<int>(__double_as_longlong(v) >> 32); }
HONE_SIM_INLINE int __double2loint(double v) { return static_cast<int>(__double_as_longlong(v)); }
HONE_SIM_INLINE double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((static_cast<long long>(hi) << 32) | static_cast<unsigned>(lo));
}

// --- counting and moving bits ---
HONE_SIM_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
HONE_SIM_INLINE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
HONE_SIM_INLINE int __clz(int v) { return v == 0 ? 32 : __builtin_clz(static_cast<unsigned>(v)); }
HONE_SIM_INLINE int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v)); }
HONE_SIM_INLINE int __ffs(int v) { return __builtin_ffs(v); }
HONE_SIM_INLINE int __ffsll(long long v) { return __builtin_ffsll(v); }
HONE_SIM_INLINE unsigned __brev(unsigned v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(v);
}
HONE_SIM_INLINE unsigned long long __brevll(unsigned long long v) {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned>(v))) << 32) |
         __brev(static_cast<unsigned>(v >> 32));
}
HONE_SIM_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(b) << 32) | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned byte = (selector >> (4 * i)) & 7u;
    result |= static_cast<unsigned>((bytes >> (8 * byte)) & 0xffu) << (8 * i);
  }
  return result;
}
HONE_SIM_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  const unsigned long long both = (static_cast<unsigned long long>(hi) << 32) | lo;
  return static_cast<unsigned>((both << (shift & 31u)) >> 32);
}
HONE_SIM_INLINE unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
HONE_SIM_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  const unsigned long long both = (static_cast<unsigned long long>(hi) << 32) | lo;
  return static_cast<unsigned>(both >> (shift & 31u));
}
HONE_SIM_INLINE unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}
// Returns the position of the n-th set bit counted from `base`, upwards for positive n and downwards for negative; -1:
// none.
HONE_SIM_INLINE unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return (mask >> base) & 1u ? base : 0xffffffffu;
  int lanes_left = n > 0 ? n : -n;
  for (int i = static_cast<int>(base); i >= 0 && i<32; i += n> 0 ? 1 : -1) {
    if (((mask >> i) & 1u) && --lanes_left == 0) return static_cast<unsigned>(i);
  }
  return 0xffffffffu;
}

// --- multiplication and averages ---
HONE_SIM_INLINE int __mul24(int a, int b) {
  const int sa = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8,
            sb = static_cast<int>(static_cast<unsigned>(b) << 8) >> 8;
  return static_cast<int>(static_cast<long long>(sa) * sb);
}
HONE_SIM_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
HONE_SIM_INLINE int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
HONE_SIM_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
HONE_SIM_INLINE long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<hone_sim::Int128>(a) * b) >> 64);
}
HONE_SIM_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<hone_sim::Uint128>(a) * b) >> 64);
}
HONE_SIM_INLINE unsigned __sad(int a, int b, unsigned c) {
  const long long d = static_cast<long long>(a) - b;
  return static_cast<unsigned>(d < 0 ? -d : d) + c;
}
HONE_SIM_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
HONE_SIM_INLINE int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
HONE_SIM_INLINE int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
HONE_SIM_INLINE unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
HONE_SIM_INLINE unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

// --- byte dot products: four signed or unsigned bytes, 32-bit accumulator ---
#define HONE_SIM_DP4A(RESULT, A, B, A_BYTE, B_BYTE)                                        \
  HONE_SIM_INLINE RESULT __dp4a(A a, B b, RESULT c) {                                      \
    for (int i = 0; i < 4; ++i) {                                                          \
      c += static_cast<RESULT>(static_cast<A_BYTE>(static_cast<unsigned>(a) >> (8 * i))) * \
           static_cast<RESULT>(static_cast<B_BYTE>(static_cast<unsigned>(b) >> (8 * i)));  \
    }                                                                                      \
    return c;                                                                              \
  }
HONE_SIM_DP4A(int, int, int, signed char, signed char)
HONE_SIM_DP4A(unsigned, unsigned, unsigned, unsigned char, unsigned char)
#undef HONE_SIM_DP4A
HONE_SIM_INLINE int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
HONE_SIM_INLINE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + static_cast<unsigned>(a.x) * b.x + static_cast<unsigned>(a.y) * b.y + static_cast<unsigned>(a.z) * b.z +
         static_cast<unsigned>(a.w) * b.w;
}
HONE_SIM_INLINE int __dp2a_lo(int a, int b, int c) {
  return c + static_cast<short>(a) * static_cast<signed char>(b) + (a >> 16) * static_cast<signed char>(b >> 8);
}
HONE_SIM_INLINE int __dp2a_hi(int a, int b, int c) {
  return c + static_cast<short>(a) * static_cast<signed char>(b >> 16) + (a >> 16) * (b >> 24);
}

// --- packed bytes and halfwords, the ones that occur in quantised kernels ---
HONE_SIM_INLINE unsigned __vadd2(unsigned a, unsigned b) {
  return ((a + b) & 0xffffu) | ((((a >> 16) + (b >> 16)) & 0xffffu) << 16);
}
HONE_SIM_INLINE unsigned __vsub2(unsigned a, unsigned b) {
  return ((a - b) & 0xffffu) | ((((a >> 16) - (b >> 16)) & 0xffffu) << 16);
}
HONE_SIM_INLINE unsigned __vadd4(unsigned a, unsigned b) {
  unsigned r = 0;
  for (int i = 0; i < 32; i += 8) r |= (((a >> i) + (b >> i)) & 0xffu) << i;
  return r;
}
HONE_SIM_INLINE unsigned __vsub4(unsigned a, unsigned b) {
  unsigned r = 0;
  for (int i = 0; i < 32; i += 8) r |= (((a >> i) - (b >> i)) & 0xffu) << i;
  return r;
}
HONE_SIM_INLINE unsigned __vsubss4(unsigned a, unsigned b) {
  unsigned r = 0;
  for (int i = 0; i < 32; i += 8) {
    int d = static_cast<signed char>(a >> i) - static_cast<signed char>(b >> i);
    d = d > 127 ? 127 : d < -128 ? -128 : d;
    r |= (static_cast<unsigned>(d) & 0xffu) << i;
  }
  return r;
}
HONE_SIM_INLINE unsigned __vcmpeq4(unsigned a, unsigned b) {
  unsigned r = 0;
  for (int i = 0; i < 32; i += 8) r |= (((a >> i) & 0xffu) == ((b >> i) & 0xffu) ? 0xffu : 0u) << i;
  return r;
}

// --- conversions between integers and floating point with a rounding direction ---
#define HONE_SIM_TO_INTEGER(NAME, FROM, TO)                                                                         \
  HONE_SIM_INLINE TO NAME##_rn(FROM v) { return hone_sim::SaturatingConvert<TO, hone_sim::Rounding::kNearest>(v); } \
  HONE_SIM_INLINE TO NAME##_rz(FROM v) { return hone_sim::SaturatingConvert<TO, hone_sim::Rounding::kZero>(v); }    \
  HONE_SIM_INLINE TO NAME##_rd(FROM v) { return hone_sim::SaturatingConvert<TO, hone_sim::Rounding::kDown>(v); }    \
  HONE_SIM_INLINE TO NAME##_ru(FROM v) { return hone_sim::SaturatingConvert<TO, hone_sim::Rounding::kUp>(v); }
HONE_SIM_TO_INTEGER(__float2int, float, int)
HONE_SIM_TO_INTEGER(__float2uint, float, unsigned)
HONE_SIM_TO_INTEGER(__float2ll, float, long long)
HONE_SIM_TO_INTEGER(__float2ull, float, unsigned long long)
HONE_SIM_TO_INTEGER(__double2int, double, int)
HONE_SIM_TO_INTEGER(__double2uint, double, unsigned)
HONE_SIM_TO_INTEGER(__double2ll, double, long long)
HONE_SIM_TO_INTEGER(__double2ull, double, unsigned long long)
#undef HONE_SIM_TO_INTEGER

HONE_SIM_INLINE double __int2double_rn(int v) { return v; }
HONE_SIM_INLINE double __uint2double_rn(unsigned v) { return v; }
HONE_SIM_INLINE double __ll2double_rn(long long v) { return static_cast<double>(v); }
HONE_SIM_INLINE double __ull2double_rn(unsigned long long v) { return static_cast<double>(v); }
HONE_SIM_INLINE float __int2float_rn(int v) { return static_cast<float>(v); }
HONE_SIM_INLINE float __uint2float_rn(unsigned v) { return static_cast<float>(v); }
HONE_SIM_INLINE float __ll2float_rn(long long v) { return static_cast<float>(v); }
HONE_SIM_INLINE float __ull2float_rn(unsigned long long v) { return static_cast<float>(v); }
