// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/gain.h"

#include <cmath>

namespace hone {

std::optional<Interval> GeomeanGain(const std::vector<CaseResult>& cases) {
  double sum = 0, low_square = 0, high_square = 0;
  int count = 0;
  for (const CaseResult& c : cases) {
    if (!c.speedup || !(c.speedup->median > 0) || !(c.speedup->low > 0) || !(c.speedup->high > 0)) continue;
    const double middle = std::log(c.speedup->median);
    const double down = middle - std::log(c.speedup->low), up = std::log(c.speedup->high) - middle;
    sum += middle;
    low_square += down * down;
    high_square += up * up;
    ++count;
  }
  if (count == 0) return std::nullopt;
  const double mean = sum / count;
  return Interval{std::exp(mean), std::exp(mean - std::sqrt(low_square) / count),
                  std::exp(mean + std::sqrt(high_square) / count)};
}

}  // namespace hone
