// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/paired_ratio.h"

#include <cmath>
#include <vector>

#include "base/numbers/distributions.h"
#include "hone/base/status.h"

namespace hone::gnn {

PairedRatio RatioOfPairs(std::span<const double> mine, std::span<const double> theirs) {
  HONE_CHECK(mine.size() == theirs.size() && mine.size() >= 2, "pairs of times");
  std::vector<double> logs;
  double mean = 0, squares = 0;
  for (size_t i = 0; i < mine.size(); ++i) logs.push_back(std::log(mine[i] / theirs[i]));
  const auto n = static_cast<double>(logs.size());
  for (const double x : logs) mean += x / n;
  for (const double x : logs) squares += (x - mean) * (x - mean);
  const double half = StudentUpperQuantile(0.025, n - 1) * std::sqrt(squares / (n - 1) / n);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

}  // namespace hone::gnn
