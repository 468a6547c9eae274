// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fits the tolerance of a drafted task to the errors of honest kernels. `hone new` writes a tolerance by dtype before
// anything has run; one that is too wide lets a kernel pass that computes something slightly different.
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/task.h"
#include "tuner/evaluate/lint/task_report.h"

namespace hone {

// Returns the c_max for an output of this dtype, with two significant digits: three times the dtype's rounding unit
// plus kGrowth times what honest kernels were off beyond one unit, because timed shapes are larger than checked ones
// and kernels sum in other orders. At least 1e-4 for float32, whose imprecise kernels c_rms tells apart; for float64,
// and where honest kernels gave no bound, the output's present c_max. Never wider than the present one, except where
// that refuses an honest kernel.
inline constexpr double kGrowth = 32;
double MeasuredCMax(const OutputPrecision& output, DType dtype);

struct FittedTolerance {
  std::string task_toml;           // the text with its new limits
  std::vector<std::string> lines;  // what was changed, for the user; empty: nothing
  bool wider = false;              // some limit was raised, so that the task must be checked again
};
// Fits c_max, and a c_rms that leaves honest kernels too little room, in the text of a drafted task.toml.
// `precision` holds the outputs' errors as the linter measured them with `task`, which the text describes.
FittedTolerance FitTolerance(const Task& task, const std::vector<OutputPrecision>& precision,
                             const std::string& task_toml);

}  // namespace hone
