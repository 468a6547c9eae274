// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/timing/sequential_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>

#include "base/numbers/distributions.h"
#include "hone/base/status.h"

namespace hone {
namespace {

constexpr int kFewestQuads = 4;
constexpr double kOutlierDeviations = 6.0;
constexpr double kLargestOutlierShare = 0.2;
// The boundaries are computed for this share of alpha. Each look has its own few degrees of freedom, so looks are less
// correlated than the normal theory of the boundaries assumes, and together they cross the boundaries a little too
// often (5.5 % for an alpha of 5 %). benchmarks/sequential_calibration.cc measures that.
constexpr double kStudentAllowance = 0.9;
// A look ends the timing if the chance that a later look reaches a decision is below this.
constexpr double kFutileChance = 0.02;

double Median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return 0.5 * (upper + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)));
}

// Returns the integral of a function by Simpson's rule, from its `values` at an odd number of points that are `step`
// apart.
double Simpson(const std::vector<double>& values, double step) {
  double sum = values.front() + values.back();
  for (size_t i = 1; i + 1 < values.size(); ++i) sum += (i % 2 == 1 ? 4.0 : 2.0) * values[i];
  return sum * step / 3.0;
}

// Returns the boundaries for these looks. They depend only on the spacing of the looks and on alpha and cost some
// milliseconds, so a process computes them once.
std::vector<double> CachedBoundaries(const std::vector<int>& planned, double alpha) {
  static std::mutex mutex;
  static std::map<std::pair<std::vector<double>, double>, std::vector<double>> cache;
  std::vector<double> fractions;
  for (int quads : planned) fractions.push_back(static_cast<double>(quads) / planned.back());
  const std::lock_guard<std::mutex> lock(mutex);
  auto [entry, is_new] = cache.try_emplace({fractions, alpha});
  if (is_new) entry->second = OBrienFlemingBoundaries(fractions, alpha);
  return entry->second;
}

}  // namespace

std::string_view DecisionName(Decision decision) {
  switch (decision) {
    case Decision::kFaster: return "faster";
    case Decision::kSlower: return "slower";
    case Decision::kSame: return "same";
    case Decision::kUndecided:
    case Decision::kContinue: return "undecided";
  }
  return "undecided";
}

double CrossingProbability(const std::vector<double>& information, const std::vector<double>& boundaries,
                           double drift) {
  HONE_CHECK(!information.empty() && information.size() == boundaries.size(), "one boundary a look");
  // `density` is the density of the sum at the current look, restricted to paths that have crossed no boundary so far.
  std::vector<double> density;
  double step = 0, limit = 0, previous = 0;
  for (size_t look = 0; look < information.size(); ++look) {
    const double added = information[look] - previous;
    HONE_CHECK(added > 0, "information must increase from look to look");
    const double deviation = std::sqrt(added);
    const double new_limit = boundaries[look] * std::sqrt(information[look]);
    // A step of at most a twentieth of the increment's deviation keeps Simpson's error near 1e-7.
    const auto panels = 2 * static_cast<size_t>(std::clamp(std::ceil(new_limit / (0.05 * deviation)), 16.0, 4000.0));
    const double new_step = 2.0 * new_limit / static_cast<double>(panels);
    std::vector<double> next_density(panels + 1);
    std::vector<double> integrand(density.size());
    for (size_t i = 0; i <= panels; ++i) {
      const double sum = -new_limit + new_step * static_cast<double>(i);
      if (look == 0) {
        next_density[i] = NormalDensity((sum - drift * added) / deviation) / deviation;
        continue;
      }
      for (size_t j = 0; j < density.size(); ++j) {
        const double from = -limit + step * static_cast<double>(j);
        integrand[j] = density[j] * NormalDensity((sum - from - drift * added) / deviation);
      }
      next_density[i] = Simpson(integrand, step) / deviation;
    }
    density = std::move(next_density);
    step = new_step;
    limit = new_limit;
    previous = information[look];
  }
  return 1.0 - Simpson(density, step);
}

std::vector<double> OBrienFlemingBoundaries(const std::vector<double>& information, double alpha) {
  HONE_CHECK(alpha > 0 && alpha < 1, "alpha must lie between 0 and 1");
  std::vector<double> shape;
  for (double at : information) shape.push_back(std::sqrt(information.back() / at));
  const auto crossing = [&](double constant) {
    std::vector<double> boundaries = shape;
    for (double& boundary : boundaries) boundary *= constant;
    return CrossingProbability(information, boundaries);
  };
  // The constant lies between the quantile for a single look and the Bonferroni bound for all looks.
  double low = NormalUpperQuantile(alpha / 2);
  double high = NormalUpperQuantile(alpha / (2.0 * static_cast<double>(information.size())));
  if (information.size() > 1) {
    // False position with the Illinois correction: the crossing probability is smooth and monotone.
    double at_low = crossing(low) - alpha, at_high = crossing(high) - alpha;
    for (int i = 0; i < 60 && high - low > 1e-9; ++i) {
      const double middle = (low * at_high - high * at_low) / (at_high - at_low);
      const double at_middle = crossing(middle) - alpha;
      if (std::abs(at_middle) < 1e-10) {
        low = middle;
        break;
      }
      if (at_middle > 0) {
        low = middle;
        at_low = at_middle;
        at_high *= 0.5;
      } else {
        high = middle;
        at_high = at_middle;
        at_low *= 0.5;
      }
    }
  }
  for (double& boundary : shape) boundary *= low;
  return shape;
}

std::vector<bool> KeptQuads(const std::vector<double>& log_ratios) {
  std::vector<bool> is_kept(log_ratios.size(), true);
  if (log_ratios.size() < kFewestQuads) return is_kept;
  const double center = Median(log_ratios);
  std::vector<double> deviations;
  for (double x : log_ratios) deviations.push_back(std::abs(x - center));
  const double limit = kOutlierDeviations * 1.4826 * Median(deviations);
  if (limit == 0)
    return is_kept;  // most quads are equal (a coarse clock, a modelled time), so none is called an outlier
  size_t discarded = 0;
  for (size_t i = 0; i < is_kept.size(); ++i) {
    is_kept[i] = deviations[i] <= limit;
    discarded += is_kept[i] ? 0 : 1;
  }
  if (static_cast<double>(discarded) > kLargestOutlierShare * static_cast<double>(is_kept.size())) {
    is_kept.assign(is_kept.size(), true);
  }
  return is_kept;
}

LongRunError LongRunStandardError(const std::vector<double>& series) {
  const auto n = static_cast<double>(series.size());
  HONE_CHECK(series.size() >= 2, "a standard error needs two values");
  LongRunError error;
  // Fewer and lower frequencies have less bias but leave fewer degrees of freedom. This is the trade-off that Lazarus
  // et al. recommend. With fewer than four, no difference can reach the boundary of a first look.
  const int most = static_cast<int>(series.size()) - 1;
  error.freedom = std::min(most, std::max(4, static_cast<int>(std::lround(0.41 * std::pow(n, 2.0 / 3.0)))));
  double mean = 0;
  for (double x : series) mean += x / n;
  double power = 0;
  for (int j = 1; j <= error.freedom; ++j) {
    // cos(w * (t + 1/2)) follows from its two-term recurrence, which starts from t = -1 and t = 0, where it is equal.
    const double w = std::numbers::pi * j / n;
    const double twice_cosine = 2.0 * std::cos(w);
    double before = std::cos(0.5 * w), now = before, projection = 0;
    for (double x : series) {
      projection += (x - mean) * now;
      const double next = twice_cosine * now - before;
      before = now;
      now = next;
    }
    power += projection * projection * 2.0 / n;
  }
  error.standard_error = std::sqrt(power / error.freedom / n);
  return error;
}

SequentialTest::SequentialTest(const SequentialOptions& options) : options_(options) {
  HONE_CHECK(options.looks >= 1 && options.max_quads >= 2 * options.looks && options.max_quads >= kFewestQuads,
             "a sequential test needs at least two quads a look and four in all");
  HONE_CHECK(options.delta >= 0, "delta must not be negative");
  for (int look = 1; look <= options.looks; ++look) planned_.push_back(options.max_quads * look / options.looks);
  normal_boundaries_ = CachedBoundaries(planned_, kStudentAllowance * options.alpha);
}

void SequentialTest::Add(double log_ratio) {
  HONE_CHECK(std::isfinite(log_ratio), "a log ratio of positive times is finite");
  log_ratios_.push_back(log_ratio);
}

bool SequentialTest::AtLook() const {
  return quads() >= kFewestQuads && std::binary_search(planned_.begin(), planned_.end(), quads());
}

Decision SequentialTest::Look() {
  HONE_CHECK(quads() >= kFewestQuads, "a look needs at least four quads");
  const std::vector<bool> is_kept = KeptQuads(log_ratios_);
  std::vector<double> series;
  for (size_t i = 0; i < is_kept.size(); ++i) {
    if (is_kept[i]) series.push_back(log_ratios_[i]);
  }
  const LongRunError error = LongRunStandardError(series);

  report_ = {};
  report_.quads = quads();
  report_.discarded = quads() - static_cast<int>(series.size());
  for (double x : series) report_.mean += x / static_cast<double>(series.size());
  report_.standard_error = error.standard_error;
  report_.freedom = error.freedom;
  // An unplanned look uses the stricter boundary of its own share of the quads.
  const double fraction = std::min(1.0, static_cast<double>(quads()) / planned_.back());
  const double normal = normal_boundaries_.back() / std::sqrt(fraction);
  report_.boundary = StudentUpperQuantile(NormalUpperTail(normal), error.freedom);
  report_.low = report_.mean - report_.boundary * report_.standard_error;
  report_.high = report_.mean + report_.boundary * report_.standard_error;
  report_.difference = report_.low > 0 || report_.high < 0;

  const double claim = std::log1p(options_.delta);
  if (report_.low > claim) return Decision::kFaster;
  if (report_.high < -claim) return Decision::kSlower;
  if (report_.low > -claim && report_.high < claim) return Decision::kSame;
  if (quads() >= planned_.back()) return Decision::kUndecided;

  if (options_.stop_when_futile && quads() > planned_.front()) {
    // Predict mean and interval of the last look from those of this look. The predicted mean scatters about the present
    // one, because both are uncertain; the predicted interval is narrower, with more quads and degrees of freedom.
    const double last = StudentUpperQuantile(NormalUpperTail(normal_boundaries_.back()),
                                             error.freedom / std::pow(fraction, 2.0 / 3.0));
    const double half_width = last * report_.standard_error * std::sqrt(fraction);
    const double spread = report_.standard_error * std::sqrt(1.0 - fraction);
    const auto above = [&](double level) { return StudentUpperTail((level - report_.mean) / spread, error.freedom); };
    double chance = above(claim + half_width) + (1.0 - above(-claim - half_width));
    if (half_width < claim) chance += above(half_width - claim) - above(claim - half_width);
    if (chance < kFutileChance) return Decision::kUndecided;
  }
  return Decision::kContinue;
}

}  // namespace hone
