// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/paired_ratio.h"

#include <cmath>
#include <vector>

#include "base/numbers/distributions.h"
#include "hone/base/status.h"

namespace hone::gnn {

PairedRatio RatioOfPairs(std::span<const double> own_seconds, std::span<const double> their_seconds) {
  HONE_CHECK(own_seconds.size() == their_seconds.size() && own_seconds.size() >= 2, "pairs of times");
  std::vector<double> logs;
  double mean = 0, squares = 0;
  for (size_t i = 0; i < own_seconds.size(); ++i) logs.push_back(std::log(own_seconds[i] / their_seconds[i]));
  const auto n = static_cast<double>(logs.size());
  for (const double x : logs) mean += x / n;
  for (const double x : logs) squares += (x - mean) * (x - mean);
  const double half_width = StudentUpperQuantile(0.025, n - 1) * std::sqrt(squares / (n - 1) / n);
  return {std::exp(mean), std::exp(mean - half_width), std::exp(mean + half_width)};
}

}  // namespace hone::gnn
