// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the toolkit's 4-bit floats for the simulated GPU: __nv_fp4_e2m1, its pairs and quadruples, and the conversion intrinsics.
// The first number of a pair is in the low four bits. Conversions to them round to nearest even and saturate at 6.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "detail/vector_types.h"

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };
#ifndef HONE_SIM_CUDA_ROUND_MODE
#define HONE_SIM_CUDA_ROUND_MODE
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#endif

namespace hone_sim {

HONE_SIM_HIDDEN_INLINE float Float4ToFloat(unsigned code) {
  const unsigned exponent = (code >> 1) & 3u, mantissa = code & 1u;
  const float magnitude = exponent == 0 ? 0.5f * static_cast<float>(mantissa)
                                        : (1.0f + 0.5f * static_cast<float>(mantissa)) * static_cast<float>(1u << (exponent - 1));
  return (code & 8u) != 0 ? -magnitude : magnitude;
}
// NaN becomes the largest number, as the toolkit's conversions make it.
HONE_SIM_HIDDEN_INLINE unsigned FloatToFloat4(double value) {
  if (value != value) return 7u;
  const unsigned sign = __builtin_signbit(value) ? 8u : 0u;
  const double magnitude = value < 0 ? -value : value;
  // Midpoints go to the code that is even.
  const double ends[] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0};
  unsigned code = 0;
  while (code < 7 && (magnitude > ends[code] || (magnitude == ends[code] && (code & 1u) != 0))) ++code;
  return sign | code;
}

}  // namespace hone_sim

// --- intrinsics ---
HONE_SIM_INLINE __nv_fp4_storage_t __nv_cvt_float_to_fp4(float x, __nv_fp4_interpretation_t, cudaRoundMode) {
  return static_cast<__nv_fp4_storage_t>(hone_sim::FloatToFloat4(x));
}
HONE_SIM_INLINE __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(float2 x, __nv_fp4_interpretation_t, cudaRoundMode) {
  return static_cast<__nv_fp4x2_storage_t>(hone_sim::FloatToFloat4(x.x) | (hone_sim::FloatToFloat4(x.y) << 4));
}
HONE_SIM_INLINE __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
  return __half(hone_sim::Float4ToFloat(x & 15u));
}
HONE_SIM_INLINE __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x, __nv_fp4_interpretation_t format) {
  return __half2_raw{__nv_cvt_fp4_to_halfraw(x & 15u, format).x, __nv_cvt_fp4_to_halfraw(x >> 4, format).x};
}

// --- types ---
struct __nv_fp4_e2m1 {
  __nv_fp4_storage_t __x;
  __nv_fp4_e2m1() = default;
  explicit HONE_SIM_INLINE __nv_fp4_e2m1(float v) : __x(__nv_cvt_float_to_fp4(v, __NV_E2M1, cudaRoundNearest)) {}
  explicit HONE_SIM_INLINE __nv_fp4_e2m1(double v) : __x(static_cast<__nv_fp4_storage_t>(hone_sim::FloatToFloat4(v))) {}
  explicit HONE_SIM_INLINE operator float() const { return hone_sim::Float4ToFloat(__x & 15u); }
  explicit HONE_SIM_INLINE operator double() const { return double{hone_sim::Float4ToFloat(__x & 15u)}; }
  explicit HONE_SIM_INLINE operator __half() const { return __half(hone_sim::Float4ToFloat(__x & 15u)); }
  explicit HONE_SIM_INLINE operator __nv_bfloat16() const { return __nv_bfloat16(hone_sim::Float4ToFloat(__x & 15u)); }
};
struct __nv_fp4x2_e2m1 {
  __nv_fp4x2_storage_t __x;
  __nv_fp4x2_e2m1() = default;
  explicit HONE_SIM_INLINE __nv_fp4x2_e2m1(float2 v) : __x(__nv_cvt_float2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
  explicit HONE_SIM_INLINE operator float2() const {
    return float2{hone_sim::Float4ToFloat(__x & 15u), hone_sim::Float4ToFloat(__x >> 4)};
  }
  explicit HONE_SIM_INLINE operator __half2() const { return __half2(__nv_cvt_fp4x2_to_halfraw2(__x, __NV_E2M1)); }
};
struct __nv_fp4x4_e2m1 {
  __nv_fp4x4_storage_t __x;
  __nv_fp4x4_e2m1() = default;
  explicit HONE_SIM_INLINE operator float4() const {
    return float4{hone_sim::Float4ToFloat(__x & 15u), hone_sim::Float4ToFloat((__x >> 4) & 15u), hone_sim::Float4ToFloat((__x >> 8) & 15u),
                  hone_sim::Float4ToFloat(__x >> 12)};
  }
};
