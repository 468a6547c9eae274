// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares times that were taken in pairs.
#pragma once

#include <span>

namespace hone::gnn {

// A ratio with its 95 % interval.
struct PairedRatio {
  double ratio = 1, lower = 1, upper = 1;
};

// Returns the geometric mean of own_seconds[i] / their_seconds[i], with the interval of Student's t over the
// logarithms. Both must have the same length, at least 2, and consist of numbers above zero.
PairedRatio RatioOfPairs(std::span<const double> own_seconds, std::span<const double> their_seconds);

}  // namespace hone::gnn
