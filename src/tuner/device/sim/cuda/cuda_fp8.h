// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the toolkit's 8-bit floats for the simulated GPU: __nv_fp8_e4m3, __nv_fp8_e5m2 and __nv_fp8_e8m0, pairs and
// quadruples of the first two, and the conversion intrinsics. Constructors round to nearest even and saturate.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "detail/float8.h"
#include "detail/vector_types.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
#ifndef HONE_SIM_CUDA_ROUND_MODE
#define HONE_SIM_CUDA_ROUND_MODE
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#endif

// --- intrinsics ---
HONE_SIM_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? hone_sim::FloatToFloat8<3>(x, saturate == __NV_SATFINITE)
                             : hone_sim::FloatToFloat8<2>(x, saturate == __NV_SATFINITE);
}
HONE_SIM_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(hone_sim::ToOddFloat(x), saturate, format);
}
HONE_SIM_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(hone_sim::Widen(__half(x)), saturate, format);
}
HONE_SIM_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                               __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(hone_sim::Widen(__nv_bfloat16(x)), saturate, format);
}
HONE_SIM_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return __half(format == __NV_E4M3 ? hone_sim::Float8ToFloat<3>(x) : hone_sim::Float8ToFloat<2>(x));
}
HONE_SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t format) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_fp8(x.x, saturate, format) |
                                           (__nv_cvt_float_to_fp8(x.y, saturate, format) << 8));
}
HONE_SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturate,
                                                               __nv_fp8_interpretation_t format) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_fp8(x.x, saturate, format) |
                                           (__nv_cvt_double_to_fp8(x.y, saturate, format) << 8));
}
HONE_SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t saturate,
                                                                __nv_fp8_interpretation_t format) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_halfraw_to_fp8(__half_raw{x.x}, saturate, format) |
                                           (__nv_cvt_halfraw_to_fp8(__half_raw{x.y}, saturate, format) << 8));
}
HONE_SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x, __nv_saturation_t saturate,
                                                                    __nv_fp8_interpretation_t format) {
  return static_cast<__nv_fp8x2_storage_t>(
      __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.x}, saturate, format) |
      (__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.y}, saturate, format) << 8));
}
HONE_SIM_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t format) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x & 0xff), format).x,
                     __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), format).x};
}
HONE_SIM_INLINE __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return hone_sim::FloatToE8m0(x, rounding == cudaRoundPosInf, saturate == __NV_SATFINITE);
}
HONE_SIM_INLINE __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return __nv_bfloat16(hone_sim::E8m0ToFloat(x));
}

// --- types ---
#define HONE_SIM_FLOAT8_FROM(T, Source) \
  explicit HONE_SIM_INLINE T(Source v) : __x(HONE_SIM_FLOAT8_NARROW(static_cast<double>(v))) {}
#define HONE_SIM_FLOAT8_INTEGER(T, Integer)                                                             \
  HONE_SIM_FLOAT8_FROM(T, Integer)                                                                      \
  explicit HONE_SIM_INLINE operator Integer() const {                                                   \
    return hone_sim::SaturatingConvert<Integer, hone_sim::Rounding::kZero>(HONE_SIM_FLOAT8_WIDEN(__x)); \
  }
#define HONE_SIM_FLOAT8_TYPE(T)                                                                                   \
  struct T {                                                                                                      \
    __nv_fp8_storage_t __x;                                                                                       \
    T() = default;                                                                                                \
    explicit HONE_SIM_INLINE T(__half v) : __x(HONE_SIM_FLOAT8_NARROW(double{hone_sim::Widen(v)})) {}             \
    explicit HONE_SIM_INLINE T(__nv_bfloat16 v) : __x(HONE_SIM_FLOAT8_NARROW(double{hone_sim::Widen(v)})) {}      \
    HONE_SIM_FLOAT8_FROM(T, float)                                                                                \
    HONE_SIM_FLOAT8_FROM(T, double)                                                                               \
    HONE_SIM_FLOAT8_INTEGER(T, short)                                                                             \
    HONE_SIM_FLOAT8_INTEGER(T, unsigned short)                                                                    \
    HONE_SIM_FLOAT8_INTEGER(T, int)                                                                               \
    HONE_SIM_FLOAT8_INTEGER(T, unsigned)                                                                          \
    HONE_SIM_FLOAT8_INTEGER(T, long)                                                                              \
    HONE_SIM_FLOAT8_INTEGER(T, unsigned long)                                                                     \
    HONE_SIM_FLOAT8_INTEGER(T, long long)                                                                         \
    HONE_SIM_FLOAT8_INTEGER(T, unsigned long long)                                                                \
    explicit HONE_SIM_INLINE operator float() const { return HONE_SIM_FLOAT8_WIDEN(__x); }                        \
    explicit HONE_SIM_INLINE operator double() const { return HONE_SIM_FLOAT8_WIDEN(__x); }                       \
    explicit HONE_SIM_INLINE operator __half() const { return __half(HONE_SIM_FLOAT8_WIDEN(__x)); }               \
    explicit HONE_SIM_INLINE operator __nv_bfloat16() const { return __nv_bfloat16(HONE_SIM_FLOAT8_WIDEN(__x)); } \
    explicit HONE_SIM_INLINE operator bool() const { return HONE_SIM_FLOAT8_TRUE; }                               \
  }

#define HONE_SIM_FLOAT8_TRUE ((__x & 0x7f) != 0)
#define HONE_SIM_FLOAT8_NARROW(v) __nv_cvt_double_to_fp8(v, __NV_SATFINITE, __NV_E4M3)
#define HONE_SIM_FLOAT8_WIDEN(bits) hone_sim::Float8ToFloat<3>(bits)
HONE_SIM_FLOAT8_TYPE(__nv_fp8_e4m3);
#undef HONE_SIM_FLOAT8_NARROW
#undef HONE_SIM_FLOAT8_WIDEN
#define HONE_SIM_FLOAT8_NARROW(v) __nv_cvt_double_to_fp8(v, __NV_SATFINITE, __NV_E5M2)
#define HONE_SIM_FLOAT8_WIDEN(bits) hone_sim::Float8ToFloat<2>(bits)
HONE_SIM_FLOAT8_TYPE(__nv_fp8_e5m2);
#undef HONE_SIM_FLOAT8_NARROW
#undef HONE_SIM_FLOAT8_WIDEN
#undef HONE_SIM_FLOAT8_TRUE
#define HONE_SIM_FLOAT8_TRUE true
#define HONE_SIM_FLOAT8_NARROW(v) hone_sim::FloatToE8m0(hone_sim::ToOddFloat(v), true, true)
#define HONE_SIM_FLOAT8_WIDEN(bits) hone_sim::E8m0ToFloat(bits)
HONE_SIM_FLOAT8_TYPE(__nv_fp8_e8m0);
#undef HONE_SIM_FLOAT8_NARROW
#undef HONE_SIM_FLOAT8_WIDEN
#undef HONE_SIM_FLOAT8_TRUE
#undef HONE_SIM_FLOAT8_TYPE
#undef HONE_SIM_FLOAT8_INTEGER
#undef HONE_SIM_FLOAT8_FROM

#define HONE_SIM_FLOAT8_VECTORS(Pair, Quad, kFormat)                                                              \
  struct alignas(2) Pair {                                                                                        \
    __nv_fp8x2_storage_t __x;                                                                                     \
    Pair() = default;                                                                                             \
    explicit HONE_SIM_INLINE Pair(__half2 v) : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, kFormat)) {}     \
    explicit HONE_SIM_INLINE Pair(__nv_bfloat162 v)                                                               \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, kFormat)) {}                                      \
    explicit HONE_SIM_INLINE Pair(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kFormat)) {}        \
    explicit HONE_SIM_INLINE Pair(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kFormat)) {}      \
    explicit HONE_SIM_INLINE operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, kFormat); }        \
    explicit HONE_SIM_INLINE operator float2() const {                                                            \
      const __half2 both = __nv_cvt_fp8x2_to_halfraw2(__x, kFormat);                                              \
      return make_float2(hone_sim::Widen(both.x), hone_sim::Widen(both.y));                                       \
    }                                                                                                             \
  };                                                                                                              \
  struct alignas(4) Quad {                                                                                        \
    __nv_fp8x4_storage_t __x;                                                                                     \
    Quad() = default;                                                                                             \
    HONE_SIM_INLINE Quad(float2 low, float2 high, int)                                                            \
        : __x(static_cast<unsigned>(__nv_cvt_float2_to_fp8x2(low, __NV_SATFINITE, kFormat)) |                     \
              (static_cast<unsigned>(__nv_cvt_float2_to_fp8x2(high, __NV_SATFINITE, kFormat)) << 16)) {}          \
    explicit HONE_SIM_INLINE Quad(float4 v) : Quad(make_float2(v.x, v.y), make_float2(v.z, v.w), 0) {}            \
    explicit HONE_SIM_INLINE Quad(double4 v)                                                                      \
        : __x(static_cast<unsigned>(__nv_cvt_double2_to_fp8x2(make_double2(v.x, v.y), __NV_SATFINITE, kFormat)) | \
              (static_cast<unsigned>(__nv_cvt_double2_to_fp8x2(make_double2(v.z, v.w), __NV_SATFINITE, kFormat))  \
               << 16)) {}                                                                                         \
    HONE_SIM_INLINE Quad(__half2 low, __half2 high)                                                               \
        : __x(static_cast<unsigned>(__nv_cvt_halfraw2_to_fp8x2(low, __NV_SATFINITE, kFormat)) |                   \
              (static_cast<unsigned>(__nv_cvt_halfraw2_to_fp8x2(high, __NV_SATFINITE, kFormat)) << 16)) {}        \
    HONE_SIM_INLINE Quad(__nv_bfloat162 low, __nv_bfloat162 high)                                                 \
        : __x(static_cast<unsigned>(__nv_cvt_bfloat16raw2_to_fp8x2(low, __NV_SATFINITE, kFormat)) |               \
              (static_cast<unsigned>(__nv_cvt_bfloat16raw2_to_fp8x2(high, __NV_SATFINITE, kFormat)) << 16)) {}    \
    explicit HONE_SIM_INLINE operator float4() const {                                                            \
      Pair low, high;                                                                                             \
      low.__x = static_cast<__nv_fp8x2_storage_t>(__x & 0xffffu);                                                 \
      high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);                                                    \
      const float2 l = static_cast<float2>(low), h = static_cast<float2>(high);                                   \
      return make_float4(l.x, l.y, h.x, h.y);                                                                     \
    }                                                                                                             \
  }
HONE_SIM_FLOAT8_VECTORS(__nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3);
HONE_SIM_FLOAT8_VECTORS(__nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2);
#undef HONE_SIM_FLOAT8_VECTORS
