// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the functions that translated inline PTX calls: one per instruction family, on registers that are plain
// bits.
//
// Registers are uint64_t, whatever their width: In<T> reads the low bits as a T, Out<T> returns a T's bits
// (sign-extended for signed integers, as PTX widens). The type tags are C++ types; F32Ftz is float with denormals
// flushed. Everything is inlined and folds to the bare operation; loads and stores still call the access hooks at the
// line of the asm statement. ptx_translate.cc writes the calls.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "detail/memory.h"
#include "detail/mma.h"
#include "detail/thread.h"
#include "detail/wgmma.h"

namespace hone_ptx {

using hone_sim::Rounding;

struct F32Ftz {};

template <typename T>
struct Traits {
  typedef T Value;
  HONE_SIM_INLINE static T In(uint64_t bits) { return hone_sim::FromWord<T>(bits); }
  HONE_SIM_INLINE static uint64_t Out(T value) { return hone_sim::ToWord(value); }
};
#define HONE_SIM_SIGNED_TRAITS(T)                                                                               \
  template <>                                                                                                   \
  struct Traits<T> {                                                                                            \
    typedef T Value;                                                                                            \
    HONE_SIM_INLINE static T In(uint64_t bits) { return static_cast<T>(bits); }                                 \
    HONE_SIM_INLINE static uint64_t Out(T value) { return static_cast<uint64_t>(static_cast<int64_t>(value)); } \
  };
HONE_SIM_SIGNED_TRAITS(int8_t)
HONE_SIM_SIGNED_TRAITS(int16_t)
HONE_SIM_SIGNED_TRAITS(int32_t)
HONE_SIM_SIGNED_TRAITS(int64_t)
#undef HONE_SIM_SIGNED_TRAITS
template <>
struct Traits<F32Ftz> {
  typedef float Value;
  HONE_SIM_INLINE static float In(uint64_t bits) { return hone_sim::FlushToZero(hone_sim::FromWord<float>(bits)); }
  HONE_SIM_INLINE static uint64_t Out(float value) { return hone_sim::ToWord(hone_sim::FlushToZero(value)); }
};

template <typename T>
HONE_SIM_INLINE typename Traits<T>::Value In(uint64_t bits) {
  return Traits<T>::In(bits);
}
template <typename T>
HONE_SIM_INLINE uint64_t Out(typename Traits<T>::Value value) {
  return Traits<T>::Out(value);
}

template <typename T>
struct IsInteger {
  static constexpr bool kValue = false;
};
#define HONE_SIM_INTEGER(T, U)           \
  template <>                            \
  struct IsInteger<T> {                  \
    static constexpr bool kValue = true; \
    typedef U Unsigned;                  \
  };
HONE_SIM_INTEGER(int8_t, uint8_t)
HONE_SIM_INTEGER(uint8_t, uint8_t)
HONE_SIM_INTEGER(int16_t, uint16_t)
HONE_SIM_INTEGER(uint16_t, uint16_t)
HONE_SIM_INTEGER(int32_t, uint32_t)
HONE_SIM_INTEGER(uint32_t, uint32_t)
HONE_SIM_INTEGER(int64_t, uint64_t)
HONE_SIM_INTEGER(uint64_t, uint64_t)
#undef HONE_SIM_INTEGER

// --- asm operands: C++ values in and out of registers ---
HONE_SIM_INLINE uint64_t Enter(float v) { return __builtin_bit_cast(uint32_t, v); }
HONE_SIM_INLINE uint64_t Enter(double v) { return __builtin_bit_cast(uint64_t, v); }
template <typename T>
HONE_SIM_INLINE uint64_t Enter(T* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}
template <typename T>
HONE_SIM_INLINE uint64_t Enter(const T& v) {
  return static_cast<uint64_t>(v);
}
HONE_SIM_INLINE void Leave(float& v, uint64_t bits) { v = __builtin_bit_cast(float, static_cast<uint32_t>(bits)); }
HONE_SIM_INLINE void Leave(double& v, uint64_t bits) { v = __builtin_bit_cast(double, bits); }
template <typename T>
HONE_SIM_INLINE void Leave(T*& v, uint64_t bits) {
  v = reinterpret_cast<T*>(bits);
}
template <typename T>
HONE_SIM_INLINE void Leave(T& v, uint64_t bits) {
  v = static_cast<T>(bits);
}
HONE_SIM_INLINE uint64_t FloatBits(double v) { return __builtin_bit_cast(uint32_t, static_cast<float>(v)); }
HONE_SIM_INLINE uint64_t DoubleBits(double v) { return __builtin_bit_cast(uint64_t, v); }

// --- arithmetic. Integers wrap ---
#define HONE_SIM_PTX_ARITHMETIC(NAME, OP)                                                                \
  template <typename T>                                                                                  \
  HONE_SIM_INLINE uint64_t NAME(uint64_t a, uint64_t b) {                                                \
    if constexpr (IsInteger<T>::kValue) {                                                                \
      return Out<T>(static_cast<T>(static_cast<uint64_t>(In<T>(a)) OP static_cast<uint64_t>(In<T>(b)))); \
    } else {                                                                                             \
      return Out<T>(In<T>(a) OP In<T>(b));                                                               \
    }                                                                                                    \
  }
HONE_SIM_PTX_ARITHMETIC(Add, +)
HONE_SIM_PTX_ARITHMETIC(Sub, -)
HONE_SIM_PTX_ARITHMETIC(Mul, *)
#undef HONE_SIM_PTX_ARITHMETIC
#define HONE_SIM_PTX_FLOAT(NAME, FUNCTION)                                \
  template <typename T, Rounding kRounding>                               \
  HONE_SIM_INLINE uint64_t NAME(uint64_t a, uint64_t b) {                 \
    const float x = In<T>(a), y = In<T>(b);                               \
    if (kRounding == Rounding::kZero) return Out<T>(FUNCTION##_rz(x, y)); \
    if (kRounding == Rounding::kDown) return Out<T>(FUNCTION##_rd(x, y)); \
    if (kRounding == Rounding::kUp) return Out<T>(FUNCTION##_ru(x, y));   \
    return Out<T>(FUNCTION##_rn(x, y));                                   \
  }
HONE_SIM_PTX_FLOAT(FloatAdd, __fadd)
HONE_SIM_PTX_FLOAT(FloatSub, __fsub)
HONE_SIM_PTX_FLOAT(FloatMul, __fmul)
HONE_SIM_PTX_FLOAT(FloatDiv, __fdiv)
#undef HONE_SIM_PTX_FLOAT
template <typename T, Rounding kRounding>
HONE_SIM_INLINE uint64_t FloatFma(uint64_t a, uint64_t b, uint64_t c) {
  const float x = In<T>(a), y = In<T>(b), z = In<T>(c);
  if (kRounding == Rounding::kZero) return Out<T>(__fmaf_rz(x, y, z));
  if (kRounding == Rounding::kDown) return Out<T>(__fmaf_rd(x, y, z));
  if (kRounding == Rounding::kUp) return Out<T>(__fmaf_ru(x, y, z));
  return Out<T>(fmaf(x, y, z));
}
HONE_SIM_INLINE double FmaOf(double a, double b, double c) { return fma(a, b, c); }
HONE_SIM_INLINE __half FmaOf(__half a, __half b, __half c) { return __hfma(a, b, c); }
HONE_SIM_INLINE __half2 FmaOf(__half2 a, __half2 b, __half2 c) { return __hfma2(a, b, c); }
HONE_SIM_INLINE __nv_bfloat16 FmaOf(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return __hfma(a, b, c); }
HONE_SIM_INLINE __nv_bfloat162 FmaOf(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { return __hfma2(a, b, c); }
template <typename T>
HONE_SIM_INLINE uint64_t Fma(uint64_t a, uint64_t b, uint64_t c) {
  return Out<T>(FmaOf(In<T>(a), In<T>(b), In<T>(c)));
}
HONE_SIM_INLINE __half ReluOf(__half v) { return __hmax_nan(v, __half(0.0f)); }
HONE_SIM_INLINE __nv_bfloat16 ReluOf(__nv_bfloat16 v) { return __hmax_nan(v, __nv_bfloat16(0.0f)); }
HONE_SIM_INLINE __half2 ReluOf(__half2 v) { return __half2(ReluOf(v.x), ReluOf(v.y)); }
HONE_SIM_INLINE __nv_bfloat162 ReluOf(__nv_bfloat162 v) { return __nv_bfloat162(ReluOf(v.x), ReluOf(v.y)); }
HONE_SIM_INLINE float ReluOf(float v) { return v > 0.0f || v != v ? v : 0.0f; }
template <typename T>
HONE_SIM_INLINE uint64_t Relu(uint64_t a) {
  return Out<T>(ReluOf(In<T>(a)));
}
template <typename T>
HONE_SIM_INLINE uint64_t Saturate(uint64_t a) {
  return Out<T>(__saturatef(In<T>(a)));
}

template <typename T>
HONE_SIM_INLINE uint64_t Divide(uint64_t a, uint64_t b) {
  if constexpr (IsInteger<T>::kValue) {
    // Division by zero does not trap on a GPU: the result is all ones, as the hardware's routine returns.
    const T y = In<T>(b);
    if (y == 0) return Out<T>(static_cast<T>(~static_cast<T>(0)));
    if (static_cast<T>(-1) < 0 && y == static_cast<T>(-1))
      return Out<T>(static_cast<T>(0ull - static_cast<uint64_t>(In<T>(a))));
    return Out<T>(static_cast<T>(In<T>(a) / y));
  } else {
    return Out<T>(In<T>(a) / In<T>(b));
  }
}
template <typename T>
HONE_SIM_INLINE uint64_t Remainder(uint64_t a, uint64_t b) {
  const T y = In<T>(b);
  if (y == 0) return a;
  if (static_cast<T>(-1) < 0 && y == static_cast<T>(-1)) return 0;
  return Out<T>(static_cast<T>(In<T>(a) % y));
}
template <typename T>
HONE_SIM_INLINE uint64_t DivideApprox(uint64_t a, uint64_t b) {
  return Out<T>(__fdividef(In<T>(a), In<T>(b)));
}

// Implements mul.wide and mul.hi; `Wide` is the result type, of twice the width.
template <typename T, typename Wide>
HONE_SIM_INLINE uint64_t MulWide(uint64_t a, uint64_t b) {
  return Out<Wide>(static_cast<Wide>(static_cast<Wide>(In<T>(a)) * static_cast<Wide>(In<T>(b))));
}
template <typename T>
HONE_SIM_INLINE uint64_t MulHigh(uint64_t a, uint64_t b) {
  constexpr bool kSigned = static_cast<T>(-1) < 0;
  if constexpr (kSigned) {
    return Out<T>(static_cast<T>((static_cast<hone_sim::Int128>(In<T>(a)) * In<T>(b)) >> (8 * sizeof(T))));
  } else {
    return Out<T>(static_cast<T>((static_cast<hone_sim::Uint128>(In<T>(a)) * In<T>(b)) >> (8 * sizeof(T))));
  }
}

HONE_SIM_INLINE float MinOf(float a, float b) { return fminf(a, b); }
HONE_SIM_INLINE float MaxOf(float a, float b) { return fmaxf(a, b); }
HONE_SIM_INLINE double MinOf(double a, double b) { return fmin(a, b); }
HONE_SIM_INLINE double MaxOf(double a, double b) { return fmax(a, b); }
HONE_SIM_INLINE __half MinOf(__half a, __half b) { return __hmin(a, b); }
HONE_SIM_INLINE __half MaxOf(__half a, __half b) { return __hmax(a, b); }
HONE_SIM_INLINE __half2 MinOf(__half2 a, __half2 b) { return __hmin2(a, b); }
HONE_SIM_INLINE __half2 MaxOf(__half2 a, __half2 b) { return __hmax2(a, b); }
HONE_SIM_INLINE __nv_bfloat16 MinOf(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmin(a, b); }
HONE_SIM_INLINE __nv_bfloat16 MaxOf(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmax(a, b); }
HONE_SIM_INLINE __nv_bfloat162 MinOf(__nv_bfloat162 a, __nv_bfloat162 b) { return __hmin2(a, b); }
HONE_SIM_INLINE __nv_bfloat162 MaxOf(__nv_bfloat162 a, __nv_bfloat162 b) { return __hmax2(a, b); }
template <typename T>
HONE_SIM_INLINE uint64_t Min(uint64_t a, uint64_t b) {
  if constexpr (IsInteger<T>::kValue)
    return Out<T>(In<T>(b) < In<T>(a) ? In<T>(b) : In<T>(a));
  else
    return Out<T>(MinOf(In<T>(a), In<T>(b)));
}
template <typename T>
HONE_SIM_INLINE uint64_t Max(uint64_t a, uint64_t b) {
  if constexpr (IsInteger<T>::kValue)
    return Out<T>(In<T>(b) > In<T>(a) ? In<T>(b) : In<T>(a));
  else
    return Out<T>(MaxOf(In<T>(a), In<T>(b)));
}
template <typename T>
HONE_SIM_INLINE uint64_t Negate(uint64_t a) {
  if constexpr (IsInteger<T>::kValue)
    return Out<T>(static_cast<T>(0ull - static_cast<uint64_t>(In<T>(a))));
  else
    return Out<T>(-In<T>(a));
}
HONE_SIM_INLINE float AbsOf(float v) { return fabsf(v); }
HONE_SIM_INLINE double AbsOf(double v) { return fabs(v); }
HONE_SIM_INLINE __half AbsOf(__half v) { return __habs(v); }
HONE_SIM_INLINE __half2 AbsOf(__half2 v) { return __habs2(v); }
HONE_SIM_INLINE __nv_bfloat16 AbsOf(__nv_bfloat16 v) { return __habs(v); }
HONE_SIM_INLINE __nv_bfloat162 AbsOf(__nv_bfloat162 v) { return __habs2(v); }
template <typename T>
HONE_SIM_INLINE uint64_t Abs(uint64_t a) {
  if constexpr (IsInteger<T>::kValue)
    return In<T>(a) < 0 ? Negate<T>(a) : a;
  else
    return Out<T>(AbsOf(In<T>(a)));
}
HONE_SIM_INLINE uint64_t CopySign(uint64_t sign, uint64_t magnitude) {
  return (magnitude & 0x7fffffffu) | (sign & 0x80000000u);
}

// --- approximations ---
#define HONE_SIM_PTX_FUNCTION(NAME, FLOAT, HALF, HALF2)                          \
  HONE_SIM_INLINE float NAME##Of(float v) { return FLOAT(v); }                   \
  HONE_SIM_INLINE __half NAME##Of(__half v) { return HALF(v); }                  \
  HONE_SIM_INLINE __half2 NAME##Of(__half2 v) { return HALF2(v); }               \
  HONE_SIM_INLINE __nv_bfloat16 NAME##Of(__nv_bfloat16 v) { return HALF(v); }    \
  HONE_SIM_INLINE __nv_bfloat162 NAME##Of(__nv_bfloat162 v) { return HALF2(v); } \
  template <typename T>                                                          \
  HONE_SIM_INLINE uint64_t NAME(uint64_t a) {                                    \
    return Out<T>(NAME##Of(In<T>(a)));                                           \
  }
HONE_SIM_PTX_FUNCTION(Exp2, hone_sim::Exp2Approx, hexp2, h2exp2)
HONE_SIM_PTX_FUNCTION(Log2, hone_sim::Log2Approx, hlog2, h2log2)
HONE_SIM_PTX_FUNCTION(Reciprocal, hone_sim::RcpApprox, hrcp, h2rcp)
HONE_SIM_PTX_FUNCTION(ReciprocalRoot, hone_sim::RsqrtApprox, hrsqrt, h2rsqrt)
HONE_SIM_PTX_FUNCTION(Root, hone_sim::SqrtApprox, hsqrt, h2sqrt)
HONE_SIM_PTX_FUNCTION(Tanh, hone_sim::TanhApprox, htanh_approx, h2tanh_approx)
HONE_SIM_PTX_FUNCTION(Sine, __sinf, hsin, h2sin)
HONE_SIM_PTX_FUNCTION(Cosine, __cosf, hcos, h2cos)
#undef HONE_SIM_PTX_FUNCTION
template <typename T>
HONE_SIM_INLINE uint64_t RootExact(uint64_t a) {
  return Out<T>(sizeof(In<T>(a)) == 4 ? static_cast<decltype(In<T>(a))>(sqrtf(static_cast<float>(In<T>(a))))
                                      : static_cast<decltype(In<T>(a))>(sqrt(static_cast<double>(In<T>(a)))));
}
template <typename T>
HONE_SIM_INLINE uint64_t ReciprocalExact(uint64_t a) {
  return Out<T>(static_cast<typename Traits<T>::Value>(1) / In<T>(a));
}

// --- conversions ---
HONE_SIM_INLINE double WidenOf(double v) { return v; }
HONE_SIM_INLINE double WidenOf(float v) { return v; }
HONE_SIM_INLINE double WidenOf(__half v) { return hone_sim::Widen(v); }
HONE_SIM_INLINE double WidenOf(__nv_bfloat16 v) { return hone_sim::Widen(v); }
template <typename D>
struct FloatTarget {};
template <>
struct FloatTarget<double> {
  template <Rounding R>
  HONE_SIM_INLINE static double From(double v) {
    return v;
  }
};
template <>
struct FloatTarget<float> {
  template <Rounding R>
  HONE_SIM_INLINE static float From(double v) {
    return hone_sim::RoundToFloat<R>(v);
  }
};
template <>
struct FloatTarget<F32Ftz> : FloatTarget<float> {};
template <>
struct FloatTarget<__half> {
  template <Rounding R>
  HONE_SIM_INLINE static __half From(double v) {
    return hone_sim::NarrowDirected<__half, R>(v);
  }
};
template <>
struct FloatTarget<__nv_bfloat16> {
  template <Rounding R>
  HONE_SIM_INLINE static __nv_bfloat16 From(double v) {
    return hone_sim::NarrowDirected<__nv_bfloat16, R>(v);
  }
};
// Implements cvt.D.A. `kIntegral`: .rni and similar modifiers, which round a float to an integral float.
template <typename D, typename A, Rounding kRounding, bool kSaturate, bool kIntegral>
HONE_SIM_INLINE uint64_t Convert(uint64_t bits) {
  const typename Traits<A>::Value a = In<A>(bits);
  if constexpr (IsInteger<D>::kValue && IsInteger<A>::kValue) {
    if constexpr (kSaturate) {
      constexpr bool kSigned = static_cast<D>(-1) < 0;
      constexpr D kMin = kSigned ? static_cast<D>(1ull << (8 * sizeof(D) - 1)) : static_cast<D>(0);
      constexpr D kMax = static_cast<D>(~kMin);
      const hone_sim::Int128 wide = a;
      return Out<D>(wide < static_cast<hone_sim::Int128>(kMin)   ? kMin
                    : wide > static_cast<hone_sim::Int128>(kMax) ? kMax
                                                                 : static_cast<D>(a));
    }
    return Out<D>(static_cast<D>(a));
  } else if constexpr (IsInteger<D>::kValue) {
    return Out<D>(hone_sim::SaturatingConvert<D, kRounding>(WidenOf(a)));
  } else if constexpr (IsInteger<A>::kValue) {
    if constexpr (sizeof(A) == 8 && sizeof(typename Traits<D>::Value) == 4) {
      return Out<D>(static_cast<float>(a));  // exact enough for rounding to nearest; the translator refuses other
                                             // roundings
    } else if constexpr (sizeof(typename Traits<D>::Value) == 2) {
      return Out<D>(hone_sim::NarrowInteger<typename Traits<D>::Value, kRounding>(a));
    } else {
      return Out<D>(FloatTarget<D>::template From<kRounding>(static_cast<double>(a)));
    }
  } else {
    double value = WidenOf(a);
    if (kIntegral) value = hone_sim::RoundToIntegral<kRounding>(value);
    if (kSaturate) value = value >= 0.0 ? (value > 1.0 ? 1.0 : value) : 0.0;
    return Out<D>(FloatTarget<D>::template From<kRounding>(value));
  }
}
// Implements cvt.rn.f16x2.f32 d, hi, lo.
template <typename H, Rounding kRounding, bool kRelu>
HONE_SIM_INLINE uint64_t ConvertPair(uint64_t hi, uint64_t lo) {
  H h = hone_sim::NarrowDirected<H, kRounding>(In<float>(hi)),
    l = hone_sim::NarrowDirected<H, kRounding>(In<float>(lo));
  if (kRelu) {
    h = ReluOf(h);
    l = ReluOf(l);
  }
  return (static_cast<uint64_t>(hone_sim::Bits(h)) << 16) | hone_sim::Bits(l);
}
// Implements cvt.rn.satfinite.e4m3x2.f32 d, hi, lo. The functions below convert pairs of halves to and from such pairs.
template <int kMantissa>
HONE_SIM_INLINE uint64_t FloatsToFloat8(uint64_t hi, uint64_t lo) {
  return (static_cast<uint64_t>(hone_sim::FloatToFloat8<kMantissa>(In<float>(hi), true)) << 8) |
         hone_sim::FloatToFloat8<kMantissa>(In<float>(lo), true);
}
template <int kMantissa>
HONE_SIM_INLINE uint64_t HalvesToFloat8(uint64_t pair) {
  const float hi = hone_sim::HalfToFloat(static_cast<unsigned short>(pair >> 16));
  const float lo = hone_sim::HalfToFloat(static_cast<unsigned short>(pair & 0xffff));
  return (static_cast<uint64_t>(hone_sim::FloatToFloat8<kMantissa>(hi, true)) << 8) |
         hone_sim::FloatToFloat8<kMantissa>(lo, true);
}
template <int kMantissa>
HONE_SIM_INLINE uint64_t Float8ToHalves(uint64_t pair) {
  const __half hi = hone_sim::NarrowFloat<__half>(hone_sim::Float8ToFloat<kMantissa>((pair >> 8) & 0xff));
  const __half lo = hone_sim::NarrowFloat<__half>(hone_sim::Float8ToFloat<kMantissa>(pair & 0xff));
  return (static_cast<uint64_t>(hone_sim::Bits(hi)) << 16) | hone_sim::Bits(lo);
}
// Rounds to TF32, which keeps 10 fraction bits: .rna rounds ties away from zero, .rn to even.
HONE_SIM_INLINE uint64_t ToTf32Away(uint64_t a) {
  const uint32_t bits = static_cast<uint32_t>(a);
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & ~0x1fffu;
}
HONE_SIM_INLINE uint64_t ToTf32Even(uint64_t a) {
  const uint32_t bits = static_cast<uint32_t>(a);
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu;
}

// --- comparison. Unordered forms are true for NaN ---
template <typename T>
HONE_SIM_INLINE bool Unordered(uint64_t a, uint64_t b) {
  if constexpr (IsInteger<T>::kValue)
    return false;
  else
    return WidenOf(In<T>(a)) != WidenOf(In<T>(a)) || WidenOf(In<T>(b)) != WidenOf(In<T>(b));
}
#define HONE_SIM_PTX_COMPARE(NAME, OP)                                      \
  template <typename T>                                                     \
  HONE_SIM_INLINE bool NAME(uint64_t a, uint64_t b) {                       \
    if constexpr (IsInteger<T>::kValue)                                     \
      return In<T>(a) OP In<T>(b);                                          \
    else                                                                    \
      return !Unordered<T>(a, b) && WidenOf(In<T>(a)) OP WidenOf(In<T>(b)); \
  }                                                                         \
  template <typename T>                                                     \
  HONE_SIM_INLINE bool NAME##OrUnordered(uint64_t a, uint64_t b) {          \
    return Unordered<T>(a, b) || NAME<T>(a, b);                             \
  }
HONE_SIM_PTX_COMPARE(Equal, ==)
HONE_SIM_PTX_COMPARE(NotEqual, !=)
HONE_SIM_PTX_COMPARE(Less, <)
HONE_SIM_PTX_COMPARE(LessEqual, <=)
HONE_SIM_PTX_COMPARE(Greater, >)
HONE_SIM_PTX_COMPARE(GreaterEqual, >=)
#undef HONE_SIM_PTX_COMPARE

// --- bits ---
template <typename T>
HONE_SIM_INLINE uint64_t ShiftLeft(uint64_t a, uint64_t n) {
  const uint32_t s = static_cast<uint32_t>(n);
  return s >= 8 * sizeof(T) ? 0 : Out<T>(static_cast<T>(static_cast<uint64_t>(In<T>(a)) << s));
}
template <typename T>
HONE_SIM_INLINE uint64_t ShiftRight(uint64_t a, uint64_t n) {
  const uint32_t s = static_cast<uint32_t>(n), top = 8 * sizeof(T) - 1;
  if (static_cast<T>(-1) < 0) return Out<T>(static_cast<T>(In<T>(a) >> (s > top ? top : s)));
  return s > top ? 0 : Out<T>(static_cast<T>(In<T>(a) >> s));
}
HONE_SIM_INLINE uint64_t Lop3(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
  uint32_t result = 0;
  for (int i = 0; i < 8; ++i) {
    if (!((table >> i) & 1)) continue;
    const uint32_t x = static_cast<uint32_t>(i & 4 ? a : ~a), y = static_cast<uint32_t>(i & 2 ? b : ~b),
                   z = static_cast<uint32_t>(i & 1 ? c : ~c);
    result |= x & y & z;
  }
  return result;
}
// Implements prmt in its default mode: bit 3 of a selector replicates the byte's sign.
HONE_SIM_INLINE uint64_t Permute(uint64_t a, uint64_t b, uint64_t selector) {
  const uint64_t bytes = (static_cast<uint64_t>(static_cast<uint32_t>(b)) << 32) | static_cast<uint32_t>(a);
  uint64_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = static_cast<unsigned>(selector >> (4 * i)) & 15u;
    uint64_t byte = (bytes >> (8 * (s & 7u))) & 0xffu;
    if (s & 8u) byte = byte & 0x80u ? 0xffu : 0u;
    result |= byte << (8 * i);
  }
  return result;
}
template <typename T>
HONE_SIM_INLINE uint64_t BitFieldExtract(uint64_t a, uint64_t position, uint64_t length) {
  constexpr unsigned kBits = 8 * sizeof(T);
  const unsigned p = static_cast<unsigned>(position) & 0xffu, n = static_cast<unsigned>(length) & 0xffu;
  typedef typename IsInteger<T>::Unsigned U;
  const U value = static_cast<U>(a);
  constexpr bool kSigned = static_cast<T>(-1) < 0;
  const unsigned last = p + n - 1 < kBits - 1 ? p + n - 1 : kBits - 1;
  const bool sign = kSigned && n != 0 && ((value >> last) & 1);
  U result = 0;
  for (unsigned i = 0; i < kBits; ++i) {
    const bool bit = i < n && p + i < kBits ? (value >> (p + i)) & 1 : sign;
    result |= static_cast<U>(static_cast<U>(bit) << i);
  }
  return result;
}
template <typename T>
HONE_SIM_INLINE uint64_t BitFieldInsert(uint64_t a, uint64_t b, uint64_t position, uint64_t length) {
  constexpr unsigned kBits = 8 * sizeof(T);
  const unsigned p = static_cast<unsigned>(position) & 0xffu, n = static_cast<unsigned>(length) & 0xffu;
  T result = static_cast<T>(b);
  for (unsigned i = 0; i < n && p + i < kBits; ++i) {
    const T bit = static_cast<T>(static_cast<T>(1) << (p + i));
    result = static_cast<T>((a >> i) & 1 ? result | bit : result & ~bit);
  }
  return result;
}

// --- memory. `Pack` makes one access of the whole vector ---
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) [[gnu::may_alias]] Pack {
  T v[kCount];
};
HONE_SIM_INLINE void* Generic(uint64_t address) { return reinterpret_cast<void*>(address); }
HONE_SIM_INLINE void* Shared(uint64_t address) { return hone_sim_from_shared(static_cast<uint32_t>(address)); }
template <typename T, int kCount>
HONE_SIM_INLINE Pack<T, kCount> Load(const void* address) {
  return *static_cast<const Pack<T, kCount>*>(address);
}
template <typename T, int kCount>
HONE_SIM_INLINE void Store(void* address, const Pack<T, kCount>& values) {
  *static_cast<Pack<T, kCount>*>(address) = values;
}
// Reads elements of an ordered or volatile access one by one, each atomically.
template <typename T, int kCount>
HONE_SIM_HIDDEN Pack<T, kCount> ReadElements(const void* address) {
  Pack<T, kCount> values;
  for (int i = 0; i < kCount; ++i) values.v[i] = __atomic_load_n(static_cast<const T*>(address) + i, __ATOMIC_SEQ_CST);
  return values;
}
template <typename T, int kCount>
HONE_SIM_HIDDEN void WriteElements(void* address, const Pack<T, kCount>* values) {
  for (int i = 0; i < kCount; ++i) __atomic_store_n(static_cast<T*>(address) + i, values->v[i], __ATOMIC_SEQ_CST);
}
template <typename T, int kCount>
HONE_SIM_INLINE Pack<T, kCount> LoadOrdered(const void* address, int order, int scope) {
  hone_sim_atomic(address, sizeof(T) * kCount, HONE_SIM_READ, order, scope);
  return ReadElements<T, kCount>(address);
}
template <typename T, int kCount>
HONE_SIM_INLINE void StoreOrdered(void* address, const Pack<T, kCount>& values, int order, int scope) {
  hone_sim_atomic(address, sizeof(T) * kCount, HONE_SIM_WRITE, order, scope);
  WriteElements<T, kCount>(address, &values);
}
template <typename T, int kCount>
HONE_SIM_INLINE Pack<T, kCount> LoadVolatile(const void* address) {
  hone_sim_volatile(address, sizeof(T) * kCount, HONE_SIM_READ);
  return ReadElements<T, kCount>(address);
}
template <typename T, int kCount>
HONE_SIM_INLINE void StoreVolatile(void* address, const Pack<T, kCount>& values) {
  hone_sim_volatile(address, sizeof(T) * kCount, HONE_SIM_WRITE);
  WriteElements<T, kCount>(address, &values);
}

// Updates of atom and red: each computes a new value from the old one and the operands.
enum class Update { kAdd, kMin, kMax, kAnd, kOr, kXor, kExchange, kIncrement, kDecrement };
template <typename T, Update kUpdate>
struct Step {
  HONE_SIM_HIDDEN_INLINE uint64_t operator()(uint64_t old, uint64_t b) const {
    if constexpr (kUpdate == Update::kAdd)
      return Add<T>(old, b);
    else if constexpr (kUpdate == Update::kMin)
      return Min<T>(old, b);
    else if constexpr (kUpdate == Update::kMax)
      return Max<T>(old, b);
    else if constexpr (kUpdate == Update::kAnd)
      return old & b;
    else if constexpr (kUpdate == Update::kOr)
      return old | b;
    else if constexpr (kUpdate == Update::kXor)
      return old ^ b;
    else if constexpr (kUpdate == Update::kExchange)
      return b;
    else if constexpr (kUpdate == Update::kIncrement)
      return old >= b ? 0 : old + 1;
    else
      return old == 0 || old > b ? b : old - 1;
  }
};
template <typename T, Update kUpdate>
HONE_SIM_HIDDEN uint64_t UpdateWord(void* address, uint64_t operand) {
  typedef typename hone_sim::WordOf<sizeof(typename Traits<T>::Value)>::Type Word;
  Word* word = static_cast<Word*>(address);
  Word old_word = __atomic_load_n(word, __ATOMIC_SEQ_CST), new_word;
  do {
    new_word = static_cast<Word>(Step<T, kUpdate>()(old_word, static_cast<Word>(operand)));
  } while (!__atomic_compare_exchange_n(word, &old_word, new_word, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old_word;
}
template <typename T, Update kUpdate>
HONE_SIM_INLINE uint64_t Atomic(void* address, uint64_t operand, int order, int scope) {
  hone_sim_atomic(address, sizeof(typename Traits<T>::Value), HONE_SIM_UPDATE, order, scope);
  return UpdateWord<T, kUpdate>(address, operand);
}
template <typename T>
HONE_SIM_INLINE uint64_t AtomicCompare(void* address, uint64_t expected, uint64_t desired, int order, int scope) {
  hone_sim_atomic(address, sizeof(T), HONE_SIM_UPDATE, order, scope);
  return hone_sim::FetchCompare(static_cast<T*>(address), static_cast<T>(expected), static_cast<T>(desired));
}

HONE_SIM_INLINE void CopyAsync(uint64_t shared, uint64_t global, uint64_t bytes, uint64_t source_bytes) {
  hone_sim_cp_async(Shared(shared), Generic(global), static_cast<uint32_t>(bytes), static_cast<uint32_t>(source_bytes));
}

// --- warp ---
// Implements shfl.sync. `c` packs the clamp (bits 0-4) and the segment mask (bits 8-12), as the intrinsics pass them.
HONE_SIM_INLINE uint64_t Shuffle(int kind, uint64_t value, uint64_t b, uint64_t c, uint64_t mask, bool* in_range) {
  int inside = 0;
  const uint64_t r =
      hone_sim_shuffle(kind, static_cast<uint32_t>(mask), static_cast<uint32_t>(value), static_cast<uint32_t>(b) & 31u,
                       32u - ((static_cast<uint32_t>(c) >> 8) & 31u), &inside);
  *in_range = inside != 0;
  return r;
}
// Implements elect.sync: the lowest lane of the mask leads.
HONE_SIM_INLINE uint64_t Elect(uint64_t mask, bool* elected) {
  const int leader = __builtin_ffs(static_cast<int>(mask)) - 1;
  *elected = hone_sim::Index<HONE_SIM_LANE>() == static_cast<unsigned>(leader);
  return static_cast<uint64_t>(leader);
}
HONE_SIM_INLINE uint64_t LaneMask(char kind) {
  const unsigned lane = hone_sim::Index<HONE_SIM_LANE>(), bit = 1u << lane;
  switch (kind) {
    case 'e':
      return bit;  // eq
    case 'l':
      return bit - 1u;  // lt
    case 'L':
      return bit | (bit - 1u);  // le
    case 'g':
      return ~(bit | (bit - 1u));  // gt
    default:
      return ~(bit - 1u);  // ge
  }
}

// --- matrices: rows are read and written here, so that the hooks see them at the candidate's line ---
typedef unsigned Row __attribute__((vector_size(16), may_alias));
template <int kCount, bool kTranspose>
HONE_SIM_INLINE void LoadMatrix(uint64_t shared, unsigned (&result)[kCount]) {
  Row row = {0, 0, 0, 0};
  if (hone_sim::Index<HONE_SIM_LANE>() < 8 * kCount) row = *static_cast<const Row*>(Shared(shared));
  hone_sim::Together(0x200u + kCount * 2u + (kTranspose ? 1u : 0u), &row, result,
                     hone_sim::DistributeRows<kCount, kTranspose>);
}
template <int kCount, bool kTranspose>
HONE_SIM_INLINE void StoreMatrix(uint64_t shared, const unsigned (&registers)[kCount]) {
  Row row;
  hone_sim::Together(0x300u + kCount * 2u + (kTranspose ? 1u : 0u), registers, &row,
                     hone_sim::CollectRows<kCount, kTranspose>);
  if (hone_sim::Index<HONE_SIM_LANE>() < 8 * kCount) *static_cast<Row*>(Shared(shared)) = row;
}
// `offer`: this lane's registers of A, then of B.
template <int kM, int kK, typename FormatA, typename FormatB, typename C, typename Register, int kRegisters>
HONE_SIM_INLINE void Mma(const Register (&offer)[kRegisters], const C* c, C* d) {
  constexpr int kBytes = hone_sim::FormatTraits<FormatA>::kBytes, kOfA = kM * kK * kBytes / 32;
  static_assert(sizeof(offer) == kOfA + 8 * kK * kBytes / 32, "registers of A and B");
  const hone_sim::Factors<void, void, C> factors = {offer, reinterpret_cast<const char*>(offer) + kOfA, c};
  // 8-bit floats differ from 8-bit integers in the type in which they are multiplied (Value), which has 8 bytes.
  constexpr unsigned kWidth = kBytes + (kBytes == 1 && sizeof(typename hone_sim::FormatTraits<FormatA>::Value) == 8 ? 2u : 0u);
  hone_sim::Together(0x400000u + kM * 4096u + kK * 16u + kWidth, &factors, d,
                     hone_sim::MatrixMultiply<kM, kK, FormatA, FormatB, C>);
  if (hone_sim::Index<HONE_SIM_LANE>() == 0) hone_sim_count_mma(static_cast<uint64_t>(kM) * 8 * kK);
}

}  // namespace hone_ptx
