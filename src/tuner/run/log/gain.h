// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes one speedup of several cases: the geometric mean, with an interval.
#pragma once

#include <optional>
#include <vector>

#include "hone/tuner/evaluation.h"

namespace hone {

// Returns the geometric mean of the cases' cold speedups, with a 95 % interval; nullopt: no case has one. Cases are
// timed separately, so that their errors are assumed independent: the square root of the sum of squares of the
// intervals' half widths, in logarithms, is divided by the number of cases. Simulated times have no spread, and the
// interval is then one point.
std::optional<Interval> GeomeanGain(const std::vector<CaseResult>& cases);

}  // namespace hone
