// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/image/math_functions.h"

#include <algorithm>
#include <iterator>

namespace hone::sim {
namespace {

template <size_t kCount>
bool IsNamed(std::string_view word, const std::string_view (&words)[kCount]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// A GPU has an instruction of the special-function unit for these, or begins with one.
constexpr std::string_view kSpecial[] = {"expf", "exp2f", "exp10f", "logf", "log2f",   "log10f",
                                         "sinf", "cosf",  "tanhf",  "powf", "sincosf", "sqrtf"};
// Functions that take several operations of single precision, and at least as many as CostOfMathFunction says.
constexpr std::string_view kSeveral[] = {"tanf",  "erff",  "erfcf",   "log1pf",  "expm1f", "cbrtf",  "asinf",  "acosf",      "atanf",
                                         "atan2f", "sinhf", "coshf",  "lgammaf", "tgammaf", "fmodf", "asinhf", "acoshf",     "atanhf",
                                         "hypotf", "j0f",   "j1f",    "jnf",     "y0f",     "y1f",   "ynf",    "remainderf", "remquof"};
// Functions of one operation of single precision, at least.
constexpr std::string_view kOne[] = {"fmaxf", "fminf", "fmaf", "fdimf", "nextafterf", "ldexpf", "scalbnf", "scalblnf", "logbf", "ilogbf",
                                     "modff", "frexpf"};
// Elementary functions of double precision (kWideFunction).
constexpr std::string_view kWide[] = {"exp",  "exp2", "exp10", "log",   "log2",   "log10",  "log1p", "expm1", "sin",   "cos",
                                      "tan",  "sinh", "cosh",  "tanh",  "asin",   "acos",   "atan",  "atan2", "pow",   "cbrt",
                                      "erf",  "erfc", "hypot", "fmod",  "lgamma", "tgamma", "sincos", "asinh", "acosh", "atanh",
                                      "j0",   "j1",   "jn",    "y0",    "y1",     "yn",     "remainder", "remquo"};
// Functions of one operation of double precision, at least.
constexpr std::string_view kOneWide[] = {"fmax", "fmin", "fma", "fdim", "nextafter", "ldexp", "scalbn", "scalbln", "logb", "ilogb",
                                         "modf", "frexp"};
// Roundings, and tests of a number's kind, which are not counted.
constexpr std::string_view kNothing[] = {
    "ceil", "ceilf", "floor", "floorf", "trunc", "truncf", "round", "roundf", "rint", "rintf", "nearbyint", "nearbyintf",
    "lrint", "lrintf", "llrint", "llrintf", "lround", "lroundf", "llround", "llroundf", "copysign", "copysignf", "fabs", "fabsf",
    "nan", "nanf", "isinf", "isinff", "isnan", "isnanf", "finite", "finitef", "__isinf", "__isinff", "__isnan", "__isnanf",
    "__finite", "__finitef", "__signbit", "__signbitf"};

}  // namespace

std::optional<MathCost> CostOfMathFunction(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (IsNamed(name, kSpecial)) return MathCost{.single = 1, .special = 1};
  if (IsNamed(name, kSeveral)) return MathCost{.single = 4};
  if (IsNamed(name, kOne)) return MathCost{.single = 1};
  if (IsNamed(name, kWide)) return MathCost{.wide = kWideFunction};
  if (name == "sqrt") return MathCost{.wide = kWideQuotient};
  if (IsNamed(name, kOneWide)) return MathCost{.wide = 1};
  if (IsNamed(name, kNothing)) return MathCost();
  return std::nullopt;
}

}  // namespace hone::sim
