// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests count how often reported intervals cover the true value, and check the names for the quality of a timing.
#include "tuner/evaluate/timing/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tuner/evaluate/timing/synthetic_noise.h"

namespace hone {
namespace {

constexpr uint64_t kSeed = 20260118;

TEST(MedianInterval, OfNothingIsZeroAndOfOneIsItself) {
  EXPECT_EQ(MedianInterval({}).median, 0);
  const Interval one = MedianInterval({3.5});
  EXPECT_EQ(one.low, 3.5);
  EXPECT_EQ(one.median, 3.5);
  EXPECT_EQ(one.high, 3.5);
}

TEST(MedianInterval, OfAFewIsTheirRange) {
  const Interval few = MedianInterval({5, 1, 4, 2});
  EXPECT_EQ(few.low, 1);
  EXPECT_EQ(few.median, 3);
  EXPECT_EQ(few.high, 5);
}

TEST(MedianInterval, OfSixLiesBetweenTheOutermostRanks) {
  // The range covers in 1 - 2/64 = 62/64 of cases, ranks 2 to 5 in 1 - 14/64 = 50/64; 95 % lies a share
  // s = (62 - 60.8) / 12 = 0.1 of the coverage inwards, which the interpolation turns into 5 s / (1 + 4 s).
  const Interval six = MedianInterval({1, 2, 3, 4, 5, 6});
  EXPECT_NEAR(six.low, 1.0 + 0.5 / 1.4, 1e-12);
  EXPECT_NEAR(six.low + six.high, 7.0, 1e-12);
}

TEST(MedianInterval, OneWildSampleDoesNotMoveIt) {
  std::vector<double> calm, wild;
  SyntheticNoise noise(NoiseKind::kIndependent, 0.01, kSeed);
  for (int i = 0; i < 40; ++i) calm.push_back(100 * std::exp(noise.Sample()));
  wild = calm;
  *std::max_element(wild.begin(), wild.end()) *= 1000;
  const Interval a = MedianInterval(calm), b = MedianInterval(wild);
  EXPECT_EQ(a.median, b.median);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

TEST(MedianInterval, EqualSamplesGiveAPoint) {
  const Interval same = MedianInterval(std::vector<double>(50, 7.25));
  EXPECT_EQ(same.low, 7.25);
  EXPECT_EQ(same.high, 7.25);
}

// Returns the share of `runs` in which `covers` returns true.
double Share(int runs, const std::function<bool(uint64_t)>& covers) {
  int yes = 0;
  for (int run = 0; run < runs; ++run) yes += covers(kSeed * 1000003 + static_cast<uint64_t>(run));
  return static_cast<double>(yes) / runs;
}

TEST(MedianInterval, CoversTheMedianOfSeriesThatAreIndependentOrNot) {
  for (NoiseKind kind : {NoiseKind::kIndependent, NoiseKind::kAutocorrelated, NoiseKind::kHeavyTailed}) {
    for (int samples : {20, 40, 100, 200}) {
      const double share = Share(4000, [&](uint64_t seed) {
        SyntheticNoise noise(kind, 0.02, seed);
        std::vector<double> times;
        for (int i = 0; i < samples; ++i) times.push_back(100 * std::exp(noise.Sample()));
        const Interval interval = MedianInterval(times);
        return interval.low <= 100 && 100 <= interval.high;
      });
      EXPECT_GE(share, 0.930) << NoiseName(kind) << ", " << samples << " samples, seed " << kSeed;
      EXPECT_LE(share, 0.972) << NoiseName(kind) << ", " << samples << " samples, seed " << kSeed;
    }
  }
}

TEST(RatioInterval, CoversOneInFixedRunsOfEqualKernels) {
  for (NoiseKind kind :
       {NoiseKind::kIndependent, NoiseKind::kAutocorrelated, NoiseKind::kHeavyTailed, NoiseKind::kInterrupted}) {
    for (int quads : {10, 20, 50, 100}) {
      const double share = Share(6000, [&](uint64_t seed) {
        SyntheticNoise noise(kind, 0.02, seed);
        std::vector<double> log_ratios;
        for (int i = 0; i < quads; ++i) log_ratios.push_back(noise.Quad(0));
        const Interval speedup = RatioInterval(log_ratios);
        return speedup.low <= 1 && 1 <= speedup.high;
      });
      EXPECT_GE(share, 0.935) << NoiseName(kind) << ", " << quads << " quads, seed " << kSeed;
      EXPECT_LE(share, 0.965) << NoiseName(kind) << ", " << quads << " quads, seed " << kSeed;
    }
  }
}

TEST(RatioInterval, CoversOneWhenTheSequentialTestChoseWhenToStop) {
  // The decision to stop uses the same quads as the reported interval. That must not reduce the interval's coverage.
  for (NoiseKind kind : {NoiseKind::kIndependent, NoiseKind::kAutocorrelated, NoiseKind::kInterrupted}) {
    for (double deviation : {0.002, 0.006, 0.012, 0.04}) {
      const SequentialTest fresh({.max_quads = 50});
      const double share = Share(6000, [&](uint64_t seed) {
        SyntheticNoise noise(kind, deviation, seed);
        SequentialTest test = fresh;
        std::vector<double> log_ratios;
        Decision decision = Decision::kContinue;
        while (decision == Decision::kContinue) {
          log_ratios.push_back(noise.Quad(0));
          test.Add(log_ratios.back());
          if (test.AtLook()) decision = test.Look();
        }
        const Interval speedup = RatioInterval(log_ratios);
        return speedup.low <= 1 && 1 <= speedup.high;
      });
      EXPECT_GE(share, 0.935) << NoiseName(kind) << " at " << deviation << ", seed " << kSeed;
      EXPECT_LE(share, 0.965) << NoiseName(kind) << " at " << deviation << ", seed " << kSeed;
    }
  }
}

TEST(RatioInterval, CentresOnTheSpeedup) {
  SyntheticNoise noise(NoiseKind::kIndependent, 0.01, kSeed);
  std::vector<double> log_ratios;
  for (int i = 0; i < 100; ++i) log_ratios.push_back(noise.Quad(std::log(1.25)));
  const Interval speedup = RatioInterval(log_ratios);
  EXPECT_NEAR(speedup.median, 1.25, 0.01);
  EXPECT_LT(speedup.low, speedup.median);
  EXPECT_GT(speedup.high, speedup.median);
}

// --- the quality of a timing ---

std::vector<double> LogRatiosOfEqualKernels() {
  SyntheticNoise noise(NoiseKind::kIndependent, 0.01, kSeed);
  std::vector<double> log_ratios;
  for (int i = 0; i < 50; ++i) log_ratios.push_back(noise.Quad(0));
  return log_ratios;
}

DeviceCondition Clock(double mhz) {
  DeviceCondition condition;
  condition.sm_clock_mhz = mhz;
  return condition;
}

TEST(ClassifyTiming, CallsAQuietTimingStable) {
  EXPECT_EQ(ClassifyTiming({Clock(1980), Clock(1935), Clock(1980)}, LogRatiosOfEqualKernels(), Decision::kSame), "stable");
  EXPECT_EQ(ClassifyTiming({}, {}, Decision::kContinue), "stable");  // a candidate timed alone
}

TEST(ClassifyTiming, SeesAFallingClockAndNotARisingOne) {
  EXPECT_EQ(ClassifyTiming({Clock(1980), Clock(1800)}, LogRatiosOfEqualKernels(), Decision::kFaster), "throttled");
  EXPECT_EQ(ClassifyTiming({Clock(1980), Clock(1930), Clock(1885), Clock(1840)}, LogRatiosOfEqualKernels(), Decision::kFaster),
            "throttled") << "no step is over 5 %, all together are";
  EXPECT_EQ(ClassifyTiming({Clock(345), Clock(1980), Clock(1980)}, LogRatiosOfEqualKernels(), Decision::kFaster), "stable");
  // A clock of 0 means that it is not known.
  EXPECT_EQ(ClassifyTiming({Clock(1980), Clock(0), Clock(1980)}, LogRatiosOfEqualKernels(), Decision::kFaster), "stable");
}

TEST(ClassifyTiming, BelievesTheDevice) {
  DeviceCondition hot = Clock(1980);
  hot.throttle = "hardware thermal slowdown";
  EXPECT_EQ(ClassifyTiming({Clock(1980), hot}, LogRatiosOfEqualKernels(), Decision::kFaster), "throttled");
  DeviceCondition shared = Clock(1980);
  shared.other_processes = 1;
  EXPECT_EQ(ClassifyTiming({shared}, LogRatiosOfEqualKernels(), Decision::kFaster), "contended");
  shared.throttle = "software power cap";
  EXPECT_EQ(ClassifyTiming({shared}, LogRatiosOfEqualKernels(), Decision::kFaster), "throttled");  // the more serious of the two
}

TEST(ClassifyTiming, AdmitsWhenItCouldNotTell) {
  EXPECT_EQ(ClassifyTiming({}, LogRatiosOfEqualKernels(), Decision::kUndecided), "inconclusive");
  EXPECT_EQ(ClassifyTiming({}, LogRatiosOfEqualKernels(), Decision::kContinue), "inconclusive");
  std::vector<double> wide;
  SyntheticNoise noise(NoiseKind::kIndependent, 0.4, kSeed);
  for (int i = 0; i < 20; ++i) wide.push_back(noise.Quad(std::log(3)));
  EXPECT_EQ(ClassifyTiming({}, wide, Decision::kFaster), "inconclusive");
}

}  // namespace
}  // namespace hone
