// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/paired_ratio.h"

#include <cmath>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {
namespace {

// Returns Student's t quantile of 0.975. With one and two degrees of freedom it is known in closed form; from three on,
// Cornish and Fisher's four terms (1938) are within half a percent of it.
double Student(double freedom) {
  if (freedom < 1.5) return 12.7062;
  if (freedom < 2.5) return 4.3027;
  const double z = 1.959964, z2 = z * z;
  const double a = z * (z2 + 1) / 4, b = z * (5 * z2 * z2 + 16 * z2 + 3) / 96,
               c = z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / 384;
  return z + a / freedom + b / (freedom * freedom) + c / (freedom * freedom * freedom);
}

}  // namespace

PairedRatio RatioOfPairs(std::span<const double> mine, std::span<const double> theirs) {
  HONE_CHECK(mine.size() == theirs.size() && mine.size() >= 2, "pairs of times");
  std::vector<double> logs;
  double mean = 0, squares = 0;
  for (size_t i = 0; i < mine.size(); ++i) logs.push_back(std::log(mine[i] / theirs[i]));
  const auto n = static_cast<double>(logs.size());
  for (const double x : logs) mean += x / n;
  for (const double x : logs) squares += (x - mean) * (x - mean);
  const double half = Student(n - 1) * std::sqrt(squares / (n - 1) / n);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

}  // namespace hone::gnn
