// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements CUDA's math functions beyond the C library's, min and max, and the intrinsics with a stated rounding; those
// of float that need doubles here are in float_by_double.h.
//
// The C library is at least as accurate as CUDA's default functions (1-2 ulp), so the C library's functions are used
// for these. The fast intrinsics (`__expf`, `rsqrtf` …) are worse on a GPU than anything a CPU does: they live in
// fast_math.h, which adds the documented error.
#pragma once

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "float_by_double.h"

// --- min and max: CUDA's overload set, in the global namespace; NaN loses ---
#define HONE_SIM_MINMAX(A, B, R)                                                          \
  HONE_SIM_INLINE R min(A a, B b) {                                                       \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }                                                                                       \
  HONE_SIM_INLINE R max(A a, B b) {                                                       \
    return static_cast<R>(a) > static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }
HONE_SIM_MINMAX(int, int, int)
HONE_SIM_MINMAX(unsigned, unsigned, unsigned)
HONE_SIM_MINMAX(int, unsigned, unsigned)
HONE_SIM_MINMAX(unsigned, int, unsigned)
HONE_SIM_MINMAX(long, long, long)
HONE_SIM_MINMAX(unsigned long, unsigned long, unsigned long)
HONE_SIM_MINMAX(long, unsigned long, unsigned long)
HONE_SIM_MINMAX(unsigned long, long, unsigned long)
HONE_SIM_MINMAX(long long, long long, long long)
HONE_SIM_MINMAX(unsigned long long, unsigned long long, unsigned long long)
HONE_SIM_MINMAX(long long, unsigned long long, unsigned long long)
HONE_SIM_MINMAX(unsigned long long, long long, unsigned long long)
#undef HONE_SIM_MINMAX
HONE_SIM_INLINE float min(float a, float b) { return fminf(a, b); }
HONE_SIM_INLINE float max(float a, float b) { return fmaxf(a, b); }
HONE_SIM_INLINE double min(double a, double b) { return fmin(a, b); }
HONE_SIM_INLINE double max(double a, double b) { return fmax(a, b); }
HONE_SIM_INLINE double min(float a, double b) { return fmin(static_cast<double>(a), b); }
HONE_SIM_INLINE double max(float a, double b) { return fmax(static_cast<double>(a), b); }
HONE_SIM_INLINE double min(double a, float b) { return fmin(a, static_cast<double>(b)); }
HONE_SIM_INLINE double max(double a, float b) { return fmax(a, static_cast<double>(b)); }
HONE_SIM_INLINE unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
HONE_SIM_INLINE unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
HONE_SIM_INLINE long long llmin(long long a, long long b) { return a < b ? a : b; }
HONE_SIM_INLINE long long llmax(long long a, long long b) { return a > b ? a : b; }
HONE_SIM_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
HONE_SIM_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

// --- functions the C library lacks ---
HONE_SIM_INLINE double rsqrt(double v) { return 1.0 / sqrt(v); }
HONE_SIM_INLINE double rcbrt(double v) { return 1.0 / cbrt(v); }
HONE_SIM_INLINE float fdividef(float a, float b) { return a / b; }
HONE_SIM_INLINE double fdivide(double a, double b) { return a / b; }
HONE_SIM_INLINE float __saturatef(float v) { return v >= 0.0f ? (v > 1.0f ? 1.0f : v) : 0.0f; }  // NaN gives 0

// --- stated rounding in double ---
HONE_SIM_INLINE double __dadd_rn(double a, double b) { return hone_sim::Opaque(a + b); }
HONE_SIM_INLINE double __dsub_rn(double a, double b) { return hone_sim::Opaque(a - b); }
HONE_SIM_INLINE double __dmul_rn(double a, double b) { return hone_sim::Opaque(a * b); }
HONE_SIM_INLINE double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
HONE_SIM_INLINE double __ddiv_rn(double a, double b) { return a / b; }
HONE_SIM_INLINE double __drcp_rn(double v) { return 1.0 / v; }
HONE_SIM_INLINE double __dsqrt_rn(double v) { return sqrt(v); }
