// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the GPU's fast approximations with the GPU's error.
//
// A candidate that is only right because a CPU's expf is exact must not pass here, so every approximate function
// returns its exact value displaced by a number of ulps up to the bound in the CUDA C++ Programming Guide ("Intrinsic
// Functions") or the PTX manual, chosen by a hash of the result and a key of the launch: the same within a launch, and not
// of one sign. The key is a secret, except in launches that give a time, so that no kernel contains the bits of a few
// values by which to tell the simulated GPU from another. Results that are
// exact stay exact, as they do on the hardware (ex2 of an integer, rcp of a power of two). Where the guide's error
// comes from the formula itself (`__expf` is ex2 of a rounded product), the formula is run.
#pragma once

#include "math.h"
#include "sim_abi.h"

namespace hone_sim {

// Returns 32 bits, of which the high ones are well mixed, that depend on `bits` and on the launch.
HONE_SIM_INLINE unsigned DisplacementHash(unsigned bits) { return (bits ^ hone_sim_displacement) * 0x9e3779b1u; }

// Returns `value` moved by at most `ulps` units in its last place. Zero, infinity and NaN stay.
HONE_SIM_INLINE float Displace(float value, unsigned ulps) {
  const unsigned bits = __float_as_uint(value), magnitude = bits & 0x7fffffffu;
  if (magnitude <= ulps || magnitude >= 0x7f800000u - ulps) return value;
  const unsigned hash = DisplacementHash(bits) >> 8;  // 24 well mixed bits
  const int step =
      static_cast<int>((static_cast<unsigned long long>(hash) * (2 * ulps + 1)) >> 24) - static_cast<int>(ulps);
  return __uint_as_float(bits + static_cast<unsigned>(step));
}

// Flushes denormals to zero, as for inputs and results of the .ftz forms, which the fast intrinsics compile to.
HONE_SIM_INLINE float FlushToZero(float value) {
  return (__float_as_uint(value) & 0x7f800000u) == 0 ? copysignf(0.0f, value) : value;
}

// Computes PTX ex2.approx.f32: 2 ulp; exact at integers.
HONE_SIM_INLINE float Exp2Approx(float x) {
  const float r = exp2f(x);
  return (__float_as_uint(r) & 0x7fffffu) == 0 ? r : Displace(r, 2);
}
// Computes PTX lg2.approx.f32: absolute error 2^-22 in [0.5, 2]; beyond, 1 ulp, so that `__logf` and its second
// rounding keep within their documented 3. Exact at powers of two.
HONE_SIM_INLINE float Log2Approx(float x) {
  if ((__float_as_uint(x) & 0x7fffffu) == 0) return log2f(x);
  const float r = log2f(x);
  if (x > 0.5f && x < 2.0f) {
    const int step = static_cast<int>(DisplacementHash(__float_as_uint(r)) >> 16) - 32768;
    return r + static_cast<float>(step) * (1.0f / (32768.0f * 4194304.0f));
  }
  return Displace(r, 1);
}
// Computes PTX rcp.approx.f32: 1 ulp; exact at powers of two.
HONE_SIM_INLINE float RcpApprox(float x) {
  const float r = 1.0f / x;
  return (__float_as_uint(x) & 0x7fffffu) == 0 ? r : Displace(r, 1);
}
// Computes PTX rsqrt.approx.f32: 2^-22.9 relative, documented as 2 ulp; exact at even powers of two.
HONE_SIM_INLINE float RsqrtApprox(float x) {
  const float r = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
  return (__float_as_uint(r) & 0x7fffffu) == 0 ? r : Displace(r, 2);
}
// Computes PTX sqrt.approx.f32: 2^-23 relative; exact where the root is.
HONE_SIM_INLINE float SqrtApprox(float x) {
  const float r = __builtin_sqrtf(x);
  return r * r == x ? r : Displace(r, 1);
}
// Computes PTX tanh.approx.f32: relative error 2^-11.
HONE_SIM_INLINE float TanhApprox(float x) {
  const float r = tanhf(x);
  return r == 1.0f || r == -1.0f ? r : Displace(r, 1u << 12);
}
// Computes PTX sin.approx or cos.approx of x, whose exact result is `exact`: absolute error 2^-20.5 in [-pi, pi],
// growing with the argument's own rounding.
HONE_SIM_INLINE float TrigApprox(float exact, float x) {
  if (x == 0.0f) return exact;
  const float scale = fabsf(x) <= 3.1415927f ? 1.0f : fabsf(x) * 0.31830989f;
  const int step = static_cast<int>(DisplacementHash(__float_as_uint(exact)) >> 16) - 32768;
  return exact + static_cast<float>(step) * (scale * 6.743e-7f / 32768.0f);
}

}  // namespace hone_sim

HONE_SIM_INLINE float __exp2f(float x) { return hone_sim::Exp2Approx(x); }
HONE_SIM_INLINE float __expf(float x) { return hone_sim::Exp2Approx(hone_sim::Opaque(x * 1.4426950408889634f)); }
HONE_SIM_INLINE float __exp10f(float x) { return hone_sim::Exp2Approx(hone_sim::Opaque(x * 3.3219280948873623f)); }
HONE_SIM_INLINE float __log2f(float x) { return hone_sim::Log2Approx(x); }
HONE_SIM_INLINE float __logf(float x) { return hone_sim::Opaque(hone_sim::Log2Approx(x) * 0.69314718055994531f); }
HONE_SIM_INLINE float __log10f(float x) { return hone_sim::Opaque(hone_sim::Log2Approx(x) * 0.30102999566398120f); }
HONE_SIM_INLINE float __powf(float x, float y) {
  return hone_sim::Exp2Approx(hone_sim::Opaque(y * hone_sim::Log2Approx(x)));
}
HONE_SIM_INLINE float __sinf(float x) { return hone_sim::TrigApprox(sinf(x), x); }
HONE_SIM_INLINE float __cosf(float x) { return hone_sim::TrigApprox(cosf(x), x); }
HONE_SIM_INLINE void __sincosf(float x, float* s, float* c) {
  *s = __sinf(x);
  *c = __cosf(x);
}
HONE_SIM_INLINE float __tanf(float x) { return __sinf(x) * hone_sim::RcpApprox(__cosf(x)); }
HONE_SIM_INLINE float __tanhf(float x) { return hone_sim::TanhApprox(x); }
// Divides with 2 ulp if |y| is at most 2^126. Beyond, the reciprocal is denormal and flushed, so finite quotients are
// 0.
HONE_SIM_INLINE float __fdividef(float x, float y) {
  const float magnitude = fabsf(y);
  if (magnitude > 8.507059e37f && magnitude < __builtin_inff())
    return x - x == 0 ? copysignf(0.0f, x * copysignf(1.0f, y)) : __builtin_nanf("");
  const float q = x / y;
  return (__float_as_uint(y) & 0x7fffffu) == 0 ? q : hone_sim::Displace(q, 2);
}
HONE_SIM_INLINE float rsqrtf(float x) { return hone_sim::RsqrtApprox(x); }
HONE_SIM_INLINE float rsqrt(float x) { return hone_sim::RsqrtApprox(x); }

// Under --use_fast_math nvcc maps the plain single-precision functions to the approximations; the simulator's compiler
// defines this macro then. (Division stays exact: C++ cannot redefine the operator.)
#if defined(HONE_SIM_FAST_MATH)
#define expf(x) __expf(x)
#define exp10f(x) __exp10f(x)
#define exp2f(x) __exp2f(x)
#define logf(x) __logf(x)
#define log2f(x) __log2f(x)
#define log10f(x) __log10f(x)
#define sinf(x) __sinf(x)
#define cosf(x) __cosf(x)
#define sincosf(x, s, c) __sincosf(x, s, c)
#define tanf(x) __tanf(x)
#define tanhf(x) __tanhf(x)
#define powf(x, y) __powf(x, y)
#define fdividef(x, y) __fdividef(x, y)
#endif
