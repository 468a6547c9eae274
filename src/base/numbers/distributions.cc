// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/distributions.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "hone/base/status.h"

namespace hone {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;

// Returns the continued fraction of the incomplete beta function, by Lentz's method. It converges quickly for
// x < (a + 1) / (a + b + 2), which the caller ensures.
double BetaFraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  double c = 1.0;
  double d = 1.0 - (a + b) * x / (a + 1.0);
  if (std::abs(d) < kTiny) d = kTiny;
  d = 1.0 / d;
  double fraction = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1.0 + term * d;
      c = 1.0 + term / c;
      if (std::abs(d) < kTiny) d = kTiny;
      if (std::abs(c) < kTiny) c = kTiny;
      d = 1.0 / d;
      fraction *= c * d;
    }
    if (std::abs(c * d - 1.0) < 1e-15) break;
  }
  return fraction;
}

// Returns the regularised incomplete beta function I_x(a, b). `y` is 1 - x; it is a parameter because a tiny x computed
// as 1 - y would lose its digits.
double IncompleteBeta(double x, double y, double a, double b) {
  if (x <= 0.0) return 0.0;
  if (y <= 0.0) return 1.0;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(y));
  if (x < (a + 1.0) / (a + b + 2.0)) return front * BetaFraction(x, a, b) / a;
  return 1.0 - front * BetaFraction(y, b, a) / b;
}

// Returns the x > 0 with tail(x) = target for a decreasing tail with tail(0) = 0.5 and target < 0.5. It bisects a
// bracket found by doubling: a few dozen cheap evaluations, and no derivative that could go wrong in the far tail.
template <typename Tail>
double InvertTail(double target, Tail tail) {
  double high = 1.0;
  while (tail(high) > target) high *= 2.0;
  double low = high > 1.0 ? high / 2.0 : 0.0;
  for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (tail(middle) > target ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

template <typename Tail>
double SymmetricUpperQuantile(double target, Tail tail) {
  HONE_CHECK(target > 0.0 && target < 1.0, "a tail probability must lie between 0 and 1");
  if (target == 0.5) return 0.0;
  return target < 0.5 ? InvertTail(target, tail) : -InvertTail(1.0 - target, tail);
}

}  // namespace

double NormalDensity(double x) { return kInverseSqrtTwoPi * std::exp(-0.5 * x * x); }

double NormalUpperTail(double x) { return 0.5 * std::erfc(x * kSqrtHalf); }

double NormalUpperQuantile(double tail) { return SymmetricUpperQuantile(tail, NormalUpperTail); }

double StudentUpperTail(double t, double freedom) {
  HONE_CHECK(freedom > 0.0, "Student's t needs positive degrees of freedom");
  if (std::isinf(t)) return t > 0 ? 0.0 : 1.0;
  const double x = freedom / (freedom + t * t);
  const double y = t * t / (freedom + t * t);
  const double both = IncompleteBeta(x, y, 0.5 * freedom, 0.5);  // P(|T| > |t|)
  return t >= 0 ? 0.5 * both : 1.0 - 0.5 * both;
}

// A timing asks again and again for the quantiles of its few looks, and each costs some fifty continued fractions.
double StudentUpperQuantile(double tail, double freedom) {
  constexpr size_t kMostKept = 1024;
  static thread_local std::map<std::pair<double, double>, double> kept;
  const auto known = kept.find({tail, freedom});
  if (known != kept.end()) return known->second;
  const double quantile = SymmetricUpperQuantile(tail, [freedom](double t) { return StudentUpperTail(t, freedom); });
  if (kept.size() == kMostKept) kept.clear();
  kept.emplace(std::pair(tail, freedom), quantile);
  return quantile;
}

}  // namespace hone
