// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A precision variant computes a task's answer in another precision, by its oracle: as an honest float32 kernel would,
// or as a kernel that cuts corners would.
//
// An oracle is written over three macros (tasks/README.md, "Writing an oracle"):
//   HONE_ORACLE_ACC     the type sums are kept in                        default: double
//   HONE_ORACLE_IN(x)   how an input element is read                     default: conversion to double
//   HONE_ORACLE_MID(x)  how an intermediate value is kept                default: as it is
// A variant is the same oracle with other definitions of these macros before it. This file only makes text: it needs no
// compiler and no device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/task.h"

namespace hone {

// A NumberFormat describes a binary floating-point format as far as rounding needs it.
struct NumberFormat {
  std::string_view name;
  int mantissa_bits;    // stored bits, without the implicit one
  int lowest_exponent;  // lowest binary exponent of normal numbers
  double largest;       // largest finite number
};
inline constexpr NumberFormat kFloat32Format{"float32", 23, -126, 3.4028234663852886e38};
inline constexpr NumberFormat kTf32Format{"tf32", 10, -126, 3.4011621342146535e38};
inline constexpr NumberFormat kFloat16Format{"float16", 10, -14, 65504.0};
inline constexpr NumberFormat kBFloat16Format{"bfloat16", 7, -126, 3.3895313892515355e38};
inline constexpr NumberFormat kFloat8Format{"float8_e4m3", 3, -6, 448.0};

enum class PrecisionPart { kInputs, kIntermediates, kAccumulation, kAll };

struct PrecisionVariant {
  std::string name;  // "tf32_inputs"
  PrecisionPart part = PrecisionPart::kAll;
  NumberFormat format = kFloat32Format;

  // Returns the text to put before the oracle's source. Of names that the oracle could use, it declares only hone_lint.
  std::string Prelude() const;
};

// Returns the variants: float32 throughout first, then everything that is less precise.
const std::vector<PrecisionVariant>& PrecisionVariants();

// A PrecisionJudgement says whether a tolerance should accept a variant.
enum class PrecisionJudgement {
  kHonest,     // must be accepted
  kTolerated,  // may be accepted, because a 16-bit result may permit it; only reported
  kDishonest,  // must be refused
};
// Returns the judgement of a variant for an output of this dtype.
PrecisionJudgement JudgePrecision(const PrecisionVariant& variant, DType output);

// OracleHooks say which of the three macros an oracle uses; a line that only defines or tests a macro does not count.
struct OracleHooks {
  bool inputs = false, intermediates = false, accumulation = false;
  bool UsesMacroOf(PrecisionPart part) const;  // returns whether a macro of `part` is used; kAll: any of them
};
OracleHooks FindOracleHooks(std::string_view oracle_source);

// Returns half an ulp at 1 of this dtype; 0 for integers. Errors of honest kernels are measured in this unit.
double UnitRoundoff(DType dtype);

}  // namespace hone
