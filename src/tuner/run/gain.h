// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Combines several cases into one number: the geometric mean of the speedups, with an interval.
#pragma once

#include <optional>
#include <vector>

#include "hone/tuner/evaluation.h"

namespace hone {

// Averages the cases with a cold speedup; nullopt when there is none. Cases are timed separately, so their errors are
// assumed independent: the half widths of the cases' 95 % intervals, in logarithms, add in squares and are divided by
// the number of cases. Times of the simulator have no spread, and the interval is then one point.
std::optional<Interval> GeomeanGain(const std::vector<CaseResult>& cases);

}  // namespace hone
