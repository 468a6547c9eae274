// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests compare the tails with closed forms: Student's t has one for 1, 2 and 4 degrees of freedom.
#include "base/numbers/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace hone {
namespace {

TEST(Distributions, NormalTailKeepsItsDigitsFarOut) {
  EXPECT_NEAR(NormalUpperTail(0.0), 0.5, 1e-15);
  EXPECT_NEAR(NormalUpperTail(1.959963984540054) / 0.025, 1.0, 1e-12);
  // The reference is Mills' continued fraction at x = 6: density / (x + 1/(x + 2/(x + …))). 1 - Cdf would keep only
  // seven digits there.
  double fraction = 6.0;
  for (int i = 200; i >= 1; --i) fraction = 6.0 + i / fraction;
  EXPECT_NEAR(NormalUpperTail(6.0) / (NormalDensity(6.0) / fraction), 1.0, 1e-10);
}

TEST(Distributions, StudentTailMatchesClosedForms) {
  for (double t : {-3.0, -0.5, 0.0, 0.1, 1.0, 4.0, 30.0, 1e4}) {
    // With one degree of freedom, t is Cauchy-distributed. The arctangent of 1/t keeps the reference's digits.
    const double one = t > 0 ? std::atan(1.0 / t) / std::numbers::pi : 0.5 - std::atan(t) / std::numbers::pi;
    EXPECT_NEAR(StudentUpperTail(t, 1) / one, 1.0, 1e-10) << "t = " << t;
    const double root = std::sqrt(2.0 + t * t);
    const double two = t > 0 ? 1.0 / (root * (root + t)) : 0.5 * (1.0 - t / root);
    EXPECT_NEAR(StudentUpperTail(t, 2) / two, 1.0, 1e-10) << "t = " << t;
  }
  for (double t : {0.3, 1.0, 2.5}) {
    const double r = t / std::sqrt(4.0 + t * t);
    const double four = 0.5 - 0.75 * (r - r * r * r / 3.0);
    EXPECT_NEAR(StudentUpperTail(t, 4) / four, 1.0, 1e-9) << "t = " << t;
  }
}

TEST(Distributions, StudentNearsTheNormalAsFreedomGrows) {
  EXPECT_NEAR(StudentUpperQuantile(0.025, 1e7), NormalUpperQuantile(0.025), 1e-5);
  EXPECT_GT(StudentUpperQuantile(0.025, 5), NormalUpperQuantile(0.025));
}

TEST(Distributions, QuantilesInvertTails) {
  for (double tail : {0.9, 0.5, 0.2, 0.025, 1e-4, 2.5e-6, 1e-12}) {
    EXPECT_NEAR(NormalUpperTail(NormalUpperQuantile(tail)) / tail, 1.0, 1e-9);
    for (double freedom : {1.0, 2.5, 4.0, 9.0, 60.0}) {
      EXPECT_NEAR(StudentUpperTail(StudentUpperQuantile(tail, freedom), freedom) / tail, 1.0, 1e-9)
          << tail << " with " << freedom;
    }
  }
}

}  // namespace
}  // namespace hone
