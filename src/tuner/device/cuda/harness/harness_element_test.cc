// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/harness/harness_element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::harness {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TEST(UlpAt, IsTheGapBetweenNeighboursOfTheDtype) {
  EXPECT_EQ(UlpAt(1.0, kBinary32), std::nextafter(1.0f, 2.0f) - 1.0f);
  EXPECT_EQ(UlpAt(-1.5, kBinary32), std::nextafter(1.0f, 2.0f) - 1.0f);
  EXPECT_EQ(UlpAt(1000.0, kBinary32), std::nextafter(1000.0f, 2000.0f) - 1000.0f);
  EXPECT_EQ(UlpAt(0.0, kBinary32), static_cast<double>(std::numeric_limits<float>::denorm_min()));
  EXPECT_EQ(UlpAt(1e-44, kBinary32), static_cast<double>(std::numeric_limits<float>::denorm_min()));
  EXPECT_EQ(UlpAt(1.0, kBinary64), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(UlpAt(0.0, kBinary64), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(UlpAt(1.0, kBinary16), std::ldexp(1.0, -10));
  EXPECT_EQ(UlpAt(0.0, kBinary16), std::ldexp(1.0, -24));
  EXPECT_EQ(UlpAt(3.0, kBrain16), std::ldexp(1.0, -6));
  EXPECT_EQ(UlpAt(1e9, kInteger), 1.0);
}

TEST(Judge, ScalesByTheLargerOfValueAndRms) {
  EXPECT_DOUBLE_EQ(Judge(/*actual=*/1.1, /*reference=*/1.0, /*rms=*/0.5, /*c_max=*/1.0, kBinary32).scaled,
                   std::abs(1.1 - 1.0));
  EXPECT_DOUBLE_EQ(Judge(/*actual=*/0.1, /*reference=*/0.0, /*rms=*/0.5, /*c_max=*/1.0, kBinary32).scaled, 0.2);
  EXPECT_FALSE(Judge(/*actual=*/1.001, /*reference=*/1.0, /*rms=*/1.0, /*c_max=*/0.0011, kBinary32).wrong);
  EXPECT_TRUE(Judge(/*actual=*/1.001, /*reference=*/1.0, /*rms=*/1.0, /*c_max=*/0.0009, kBinary32).wrong);
  EXPECT_FALSE(
      Judge(/*actual=*/1.001, /*reference=*/1.0, /*rms=*/1.0, /*c_max=*/0.0009, kBinary32, /*absolute=*/0.0011).wrong);
}

TEST(Judge, AnErrorAgainstNothingIsInfinite) {
  const Judged judged = Judge(/*actual=*/1e-30, /*reference=*/0.0, /*rms=*/0.0, /*c_max=*/0.5, kBinary32);
  EXPECT_TRUE(judged.wrong);
  EXPECT_EQ(judged.scaled, kInfinity);
  EXPECT_FALSE(Judge(/*actual=*/0.0, /*reference=*/0.0, /*rms=*/0.0, /*c_max=*/0.0, kBinary32).wrong);
  EXPECT_FALSE(Judge(/*actual=*/-0.0, /*reference=*/0.0, /*rms=*/0.0, /*c_max=*/0.0, kBinary32).wrong);
}

TEST(Judge, NonFiniteValuesAreNeverWildcards) {
  EXPECT_TRUE(Judge(kNan, /*reference=*/1.0, /*rms=*/1.0, /*c_max=*/1e9, kBinary32).wrong);
  EXPECT_TRUE(Judge(kInfinity, /*reference=*/1.0, /*rms=*/1.0, /*c_max=*/1e9, kBinary32).wrong);
  EXPECT_TRUE(Judge(/*actual=*/1.0, kNan, /*rms=*/1.0, /*c_max=*/1e9, kBinary32).wrong);
  EXPECT_TRUE(Judge(/*actual=*/1.0, kInfinity, /*rms=*/1.0, /*c_max=*/1e9, kBinary32).wrong);
  EXPECT_TRUE(Judge(-kInfinity, kInfinity, /*rms=*/1.0, /*c_max=*/1e9, kBinary32).wrong);
  EXPECT_FALSE(Judge(kInfinity, kInfinity, /*rms=*/1.0, /*c_max=*/0.0, kBinary32).wrong);
  EXPECT_FALSE(Judge(kNan, kNan, /*rms=*/1.0, /*c_max=*/0.0, kBinary32).wrong);
  EXPECT_TRUE(Judge(kNan, kNan, /*rms=*/1.0, /*c_max=*/0.0, kBinary32).non_finite);
}

TEST(OverflowsFrom, IsHalfAStepBeyondTheLargestFiniteNumber) {
  EXPECT_EQ(OverflowsFrom(kBinary16), 65520.0);
  EXPECT_EQ(OverflowsFrom(kBinary32), std::ldexp(2.0 - std::ldexp(1.0, -24), 127));
  EXPECT_EQ(OverflowsFrom(kBrain16), std::ldexp(2.0 - std::ldexp(1.0, -8), 127));
  EXPECT_EQ(OverflowsFrom(kBinary64), kInfinity);
  EXPECT_EQ(OverflowsFrom(kInteger), kInfinity);
}

TEST(Judge, ACorrectlyRoundedOverflowIsRight) {
  const double c_max = 1e-3;
  EXPECT_FALSE(Judge(-kInfinity, /*reference=*/-67136, /*rms=*/100, c_max, kBinary16).wrong);
  EXPECT_FALSE(Judge(kInfinity, /*reference=*/65520, /*rms=*/100, /*c_max=*/0, kBinary16).wrong);
  EXPECT_EQ(Judge(-kInfinity, /*reference=*/-67136, /*rms=*/100, c_max, kBinary16).error, 0);
  EXPECT_TRUE(Judge(kInfinity, /*reference=*/-67136, /*rms=*/100, c_max, kBinary16).wrong) << "the other sign";
  EXPECT_TRUE(Judge(kNan, /*reference=*/-67136, /*rms=*/100, c_max, kBinary16).wrong);
  EXPECT_TRUE(Judge(/*actual=*/-65504, /*reference=*/-67136, /*rms=*/100, c_max, kBinary16).wrong)
      << "saturated: 2 % off";
  EXPECT_TRUE(Judge(kInfinity, /*reference=*/65519, /*rms=*/100, /*c_max=*/0, kBinary16).wrong) << "rounds to 65504";
  EXPECT_TRUE(Judge(kInfinity, /*reference=*/60000, /*rms=*/1e9, c_max, kBinary16).wrong)
      << "a large scale of its slice is no excuse";
  EXPECT_TRUE(Judge(kInfinity, /*reference=*/1, /*rms=*/1, /*c_max=*/1e9, kBinary16).wrong)
      << "a large c_max is no excuse either";
  EXPECT_TRUE(Judge(kInfinity, /*reference=*/67136, /*rms=*/100, c_max, kBinary32).wrong) << "float32 holds it";
  EXPECT_TRUE(Judge(kInfinity, /*reference=*/1e308, /*rms=*/100, c_max, kBinary64).wrong);
  EXPECT_TRUE(Judge(kInfinity, /*reference=*/1e308, /*rms=*/100, c_max, kInteger).wrong);
}

TEST(Judge, NearTheThresholdOfOverflowBothAnswersAreRight) {
  const double c_max = 1e-3;
  for (const double reference : {65480.0, 65519.0, 65521.0, 65560.0}) {
    EXPECT_FALSE(Judge(kInfinity, reference, /*rms=*/100, c_max, kBinary16).wrong) << reference;
    EXPECT_FALSE(Judge(/*actual=*/65504, reference, /*rms=*/100, c_max, kBinary16).wrong) << reference;
  }
}

}  // namespace
}  // namespace hone::harness
