// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/timing/interval.h"

#include <algorithm>
#include <cmath>

#include "base/numbers/distributions.h"

namespace hone {
namespace {

constexpr double kCoverage = 0.95;
constexpr size_t kFewestForInterval = 6;  // the range of only 5 values covers the median in 93.75 % of cases
// With fewer values, the long-run variance has too few degrees of freedom to be useful.
constexpr size_t kFewestForSerial = 20;
constexpr double kLargestClockFall = 0.05;  // a larger fall of the SM clock means "throttled"
constexpr double kWidestConclusive = 1.10;  // ratio of ends above which an interval is inconclusive

// Returns the value at `rank` (1 to the number of values), interpolated between neighbouring ranks.
double AtRank(const std::vector<double>& sorted, double rank) {
  const double at = std::clamp(rank, 1.0, static_cast<double>(sorted.size())) - 1.0;
  const auto below = static_cast<size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double share = at - static_cast<double>(below);
  return (1.0 - share) * sorted[below] + share * sorted[below + 1];
}

double SortedMedian(const std::vector<double>& sorted) {
  return AtRank(sorted, 0.5 * (static_cast<double>(sorted.size()) + 1.0));
}

// Returns the rank of the lower end of the binomial 95 % interval; the upper end is its mirror image. It lies between
// the two ranks whose coverages straddle 95 %, interpolated as Hettmansperger and Sheather (1986) do.
double BinomialLowRank(size_t values) {
  const auto n = static_cast<double>(values);
  double outside = 0;  // P(Binomial(n, 1/2) <= k - 1)
  double previous_coverage = 1.0;
  for (size_t k = 1; 2 * k <= values; ++k) {
    const double j = static_cast<double>(k) - 1.0;
    outside += std::exp(std::lgamma(n + 1) - std::lgamma(j + 1) - std::lgamma(n - j + 1) - n * std::log(2.0));
    const double coverage = 1.0 - 2.0 * outside;
    if (coverage < kCoverage) {
      if (k == 1) return 1.0;
      const double share = (previous_coverage - kCoverage) / (previous_coverage - coverage);
      const double rank = static_cast<double>(k) - 1.0;
      return rank + (n - rank) * share / (rank + (n - 2.0 * rank) * share);
    }
    previous_coverage = coverage;
  }
  return static_cast<double>(values / 2);
}

// Returns that rank for a serially correlated series. How far the number of values below the true median scatters about
// n / 2 is estimated from the series of 1/2 (above the median) and -1/2 (below it).
double SerialLowRank(const std::vector<double>& series, double median) {
  std::vector<double> above;
  for (double x : series) above.push_back(x > median ? 0.5 : (x < median ? -0.5 : 0.0));
  const LongRunError error = LongRunStandardError(above);
  const auto n = static_cast<double>(series.size());
  const double stray = StudentUpperQuantile((1.0 - kCoverage) / 2.0, error.freedom) * error.standard_error * n;
  return 0.5 * (n + 1.0) - stray;
}

Interval IntervalAtRank(const std::vector<double>& sorted, double low_rank) {
  const double high_rank = static_cast<double>(sorted.size()) + 1.0 - low_rank;
  return {SortedMedian(sorted), AtRank(sorted, low_rank), AtRank(sorted, high_rank)};
}

}  // namespace

Interval MedianInterval(const std::vector<double>& series) {
  if (series.empty()) return {};
  std::vector<double> sorted = series;
  std::sort(sorted.begin(), sorted.end());
  if (series.size() < kFewestForInterval) return {SortedMedian(sorted), sorted.front(), sorted.back()};
  if (series.size() < kFewestForSerial) return IntervalAtRank(sorted, BinomialLowRank(series.size()));
  return IntervalAtRank(sorted, SerialLowRank(series, SortedMedian(sorted)));
}

Interval RatioInterval(const std::vector<double>& log_ratios) {
  if (log_ratios.empty()) return {};
  std::vector<double> sorted = log_ratios;
  std::sort(sorted.begin(), sorted.end());
  Interval logs{SortedMedian(sorted), sorted.front(), sorted.back()};
  if (sorted.size() >= kFewestForInterval) logs = IntervalAtRank(sorted, BinomialLowRank(sorted.size()));
  return {std::exp(logs.median), std::exp(logs.low), std::exp(logs.high)};
}

std::string ClassifyTiming(const std::vector<DeviceCondition>& conditions, const std::vector<double>& log_ratios,
                           Decision decision) {
  double highest_clock = 0;
  bool throttled = false, contended = false;
  for (const DeviceCondition& condition : conditions) {
    throttled |= !condition.throttle.empty();
    contended |= condition.other_processes > 0;
    if (condition.sm_clock_mhz > 0) {
      throttled |= condition.sm_clock_mhz < (1.0 - kLargestClockFall) * highest_clock;
      highest_clock = std::max(highest_clock, condition.sm_clock_mhz);
    }
  }
  if (throttled) return "throttled";
  if (contended) return "contended";
  if (log_ratios.empty()) return "stable";
  if (decision == Decision::kUndecided || decision == Decision::kContinue) return "inconclusive";
  const Interval speedup = RatioInterval(log_ratios);
  return speedup.high > kWidestConclusive * speedup.low ? "inconclusive" : "stable";
}

}  // namespace hone
