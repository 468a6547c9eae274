// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements functions of single precision by computing in double precision. A GPU computes them in single precision.
//
// The counting of a kernel's arithmetic (image/work_count.h) knows this file by its name: doubles here cost a kernel
// nothing. Functions of double precision stand here only where those of single precision call them.
#pragma once

#include <float.h>
#include <math.h>

#include "bits.h"

namespace hone_sim {

// Moves `nearest`, a result rounded to nearest, to the neighbour that `rounding` asks for. `error` has the sign of the
// exact result minus `nearest`, as far as double can tell.
template <typename T>
HONE_SIM_INLINE auto Directed(T nearest, double error, Rounding rounding) {
  const T inf = static_cast<T>(__builtin_inf());
  if (error == 0 || !(nearest - nearest == 0)) return nearest;
  const bool exact_above = error > 0;
  const bool up = rounding == Rounding::kUp || (rounding == Rounding::kZero && nearest < 0);
  const bool down = rounding == Rounding::kDown || (rounding == Rounding::kZero && nearest >= 0);
  if (up && exact_above)
    return sizeof(T) == 4 ? static_cast<T>(nextafterf(static_cast<float>(nearest), static_cast<float>(inf)))
                          : static_cast<T>(nextafter(nearest, inf));
  if (down && !exact_above)
    return sizeof(T) == 4 ? static_cast<T>(nextafterf(static_cast<float>(nearest), static_cast<float>(-inf)))
                          : static_cast<T>(nextafter(nearest, -inf));
  return nearest;
}

// Rounds a double to float in the given direction.
template <Rounding kRounding>
HONE_SIM_INLINE auto RoundToFloat(double exact) {
  const float nearest = static_cast<float>(exact);
  if (kRounding == Rounding::kNearest) return nearest;
  if (!(nearest - nearest == 0) && exact - exact == 0) {  // overflow to infinity: toward zero stays finite
    const bool stay = kRounding == Rounding::kZero || (kRounding == Rounding::kDown) == (exact > 0);
    return stay ? copysignf(FLT_MAX, nearest) : nearest;
  }
  return Directed(nearest, exact - static_cast<double>(nearest), kRounding);
}

// Computes the inverse of erf in double: a closed approximation refined by Newton's steps on erf itself.
inline double ErfInverse(double y) {
  if (!(y > -1 && y < 1)) return y == 1 ? __builtin_inf() : y == -1 ? -__builtin_inf() : __builtin_nan("");
  const double l = log1p(-y * y), a = 0.147, b = 2 / (M_PI * a) + l / 2;
  double x = copysign(sqrt(sqrt(b * b - l / a) - b), y);
  for (int i = 0; i < 4; ++i) {
    // In the tails erf is flat, and erfc has the significant digits.
    const double f = fabs(y) < 0.5 ? erf(x) - y : copysign(1.0, y) * ((1 - fabs(y)) - erfc(fabs(x)));
    x -= f / (M_2_SQRTPI * exp(-x * x));
  }
  return x;
}

}  // namespace hone_sim

// --- functions the C library lacks ---
HONE_SIM_INLINE float rcbrtf(float v) { return static_cast<float>(1.0 / cbrt(static_cast<double>(v))); }
HONE_SIM_INLINE double sinpi(double v) { return sin(M_PI * remainder(v, 2.0)); }
HONE_SIM_INLINE double cospi(double v) { return cos(M_PI * remainder(v, 2.0)); }
HONE_SIM_INLINE float sinpif(float v) { return static_cast<float>(sinpi(v)); }
HONE_SIM_INLINE float cospif(float v) { return static_cast<float>(cospi(v)); }
HONE_SIM_INLINE void sincospi(double v, double* s, double* c) {
  *s = sinpi(v);
  *c = cospi(v);
}
HONE_SIM_INLINE void sincospif(float v, float* s, float* c) {
  *s = sinpif(v);
  *c = cospif(v);
}
HONE_SIM_INLINE double erfinv(double v) { return hone_sim::ErfInverse(v); }
HONE_SIM_INLINE float erfinvf(float v) { return static_cast<float>(hone_sim::ErfInverse(v)); }
HONE_SIM_INLINE double erfcinv(double v) { return hone_sim::ErfInverse(1.0 - v); }
HONE_SIM_INLINE float erfcinvf(float v) { return static_cast<float>(hone_sim::ErfInverse(1.0 - v)); }
HONE_SIM_INLINE double erfcx(double v) { return exp(v * v) * erfc(v); }
HONE_SIM_INLINE float erfcxf(float v) { return static_cast<float>(erfcx(v)); }
HONE_SIM_INLINE double normcdf(double v) { return 0.5 * erfc(-v * M_SQRT1_2); }
HONE_SIM_INLINE float normcdff(float v) { return static_cast<float>(normcdf(v)); }
HONE_SIM_INLINE double normcdfinv(double v) { return M_SQRT2 * hone_sim::ErfInverse(2.0 * v - 1.0); }
HONE_SIM_INLINE float normcdfinvf(float v) { return static_cast<float>(normcdfinv(v)); }
HONE_SIM_INLINE double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
HONE_SIM_INLINE float rhypotf(float a, float b) { return static_cast<float>(rhypot(a, b)); }
HONE_SIM_INLINE float norm3df(float a, float b, float c) {
  return static_cast<float>(sqrt(static_cast<double>(a) * a + static_cast<double>(b) * b + static_cast<double>(c) * c));
}
HONE_SIM_INLINE float rnorm3df(float a, float b, float c) {
  return static_cast<float>(1.0 /
                            sqrt(static_cast<double>(a) * a + static_cast<double>(b) * b + static_cast<double>(c) * c));
}
HONE_SIM_INLINE float norm4df(float a, float b, float c, float d) {
  return static_cast<float>(sqrt(static_cast<double>(a) * a + static_cast<double>(b) * b + static_cast<double>(c) * c +
                                 static_cast<double>(d) * d));
}

// --- stated rounding. Sums and products of floats are exact, or nearly, in double ---
#define HONE_SIM_ROUNDED(SUFFIX, ROUNDING)                                                                         \
  HONE_SIM_INLINE float __fadd_##SUFFIX(float a, float b) {                                                        \
    const double s = static_cast<double>(a) + b, back = s - a;                                                     \
    const double lost = (static_cast<double>(a) - (s - back)) + (static_cast<double>(b) - back);                   \
    if (ROUNDING == hone_sim::Rounding::kNearest) return hone_sim::Opaque(a + b);                                  \
    const float nearest = static_cast<float>(s);                                                                   \
    if (!(nearest - nearest == 0)) return hone_sim::RoundToFloat<ROUNDING>(s);                                     \
    return hone_sim::Directed(nearest, (s - static_cast<double>(nearest)) + lost, ROUNDING);                       \
  }                                                                                                                \
  HONE_SIM_INLINE float __fsub_##SUFFIX(float a, float b) { return __fadd_##SUFFIX(a, -b); }                       \
  HONE_SIM_INLINE float __fmul_##SUFFIX(float a, float b) {                                                        \
    if (ROUNDING == hone_sim::Rounding::kNearest) return hone_sim::Opaque(a * b);                                  \
    return hone_sim::RoundToFloat<ROUNDING>(static_cast<double>(a) * b);                                           \
  }                                                                                                                \
  HONE_SIM_INLINE float __fmaf_##SUFFIX(float a, float b, float c) {                                               \
    const float nearest = fmaf(a, b, c);                                                                           \
    if (ROUNDING == hone_sim::Rounding::kNearest) return nearest;                                                  \
    const double p = static_cast<double>(a) * b, s = p + c, back = s - p;                                          \
    const double lost = (p - (s - back)) + (static_cast<double>(c) - back);                                        \
    if (!(nearest - nearest == 0)) return hone_sim::RoundToFloat<ROUNDING>(s);                                     \
    return hone_sim::Directed(nearest, (s - static_cast<double>(nearest)) + lost, ROUNDING);                       \
  }                                                                                                                \
  HONE_SIM_INLINE float __fdiv_##SUFFIX(float a, float b) {                                                        \
    const float nearest = a / b;                                                                                   \
    if (ROUNDING == hone_sim::Rounding::kNearest) return nearest;                                                  \
    if (!(nearest - nearest == 0)) return hone_sim::RoundToFloat<ROUNDING>(static_cast<double>(a) / b);            \
    const double left = static_cast<double>(a) - static_cast<double>(nearest) * b;                                 \
    return hone_sim::Directed(nearest, b < 0 ? -left : left, ROUNDING);                                            \
  }                                                                                                                \
  HONE_SIM_INLINE float __frcp_##SUFFIX(float v) { return __fdiv_##SUFFIX(1.0f, v); }                              \
  HONE_SIM_INLINE float __fsqrt_##SUFFIX(float v) {                                                                \
    const float nearest = sqrtf(v);                                                                                \
    if (ROUNDING == hone_sim::Rounding::kNearest) return nearest;                                                  \
    return hone_sim::Directed(nearest, static_cast<double>(v) - static_cast<double>(nearest) * nearest, ROUNDING); \
  }                                                                                                                \
  HONE_SIM_INLINE float __double2float_##SUFFIX(double v) { return hone_sim::RoundToFloat<ROUNDING>(v); }
HONE_SIM_ROUNDED(rn, hone_sim::Rounding::kNearest)
HONE_SIM_ROUNDED(rz, hone_sim::Rounding::kZero)
HONE_SIM_ROUNDED(rd, hone_sim::Rounding::kDown)
HONE_SIM_ROUNDED(ru, hone_sim::Rounding::kUp)
#undef HONE_SIM_ROUNDED
HONE_SIM_INLINE float __frsqrt_rn(float v) { return static_cast<float>(1.0 / sqrt(static_cast<double>(v))); }
HONE_SIM_INLINE float __int2float_rz(int v) { return hone_sim::RoundToFloat<hone_sim::Rounding::kZero>(v); }
HONE_SIM_INLINE float __int2float_rd(int v) { return hone_sim::RoundToFloat<hone_sim::Rounding::kDown>(v); }
HONE_SIM_INLINE float __int2float_ru(int v) { return hone_sim::RoundToFloat<hone_sim::Rounding::kUp>(v); }
HONE_SIM_INLINE float __uint2float_rz(unsigned v) { return hone_sim::RoundToFloat<hone_sim::Rounding::kZero>(v); }
HONE_SIM_INLINE float __uint2float_rd(unsigned v) { return hone_sim::RoundToFloat<hone_sim::Rounding::kDown>(v); }
HONE_SIM_INLINE float __uint2float_ru(unsigned v) { return hone_sim::RoundToFloat<hone_sim::Rounding::kUp>(v); }
