// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/gain.h"

#include <cmath>

namespace hone {

std::optional<Interval> GeomeanGain(const std::vector<CaseResult>& cases) {
  double sum = 0, low_square = 0, high_square = 0;  // of the medians' logarithms; of the squares of the half widths
  int count = 0;
  for (const CaseResult& c : cases) {
    if (!c.speedup || !(c.speedup->median > 0) || !(c.speedup->low > 0) || !(c.speedup->high > 0)) continue;
    const double middle = std::log(c.speedup->median);
    // half widths of the interval in logarithms, below and above the median
    const double width_below = middle - std::log(c.speedup->low), width_above = std::log(c.speedup->high) - middle;
    sum += middle;
    low_square += width_below * width_below;
    high_square += width_above * width_above;
    ++count;
  }
  if (count == 0) return std::nullopt;
  const double mean = sum / count;
  return Interval{std::exp(mean), std::exp(mean - std::sqrt(low_square) / count),
                  std::exp(mean + std::sqrt(high_square) / count)};
}

}  // namespace hone
