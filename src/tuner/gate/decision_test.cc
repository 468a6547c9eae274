// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run the gate's rule on timings with simulated noise (synthetic_noise.h). Samples scatter as those of an
// H200 do, and twice as much. On an H200, intervals of equal kernels are 0.35 % wide at the median
// (benchmarks/results/2026-11-21-h200-timer-calibration.json), which samples with a deviation of 0.5 % give. That file
// has no series of single quads that could be resampled.
#include "tuner/gate/decision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tuner/evaluate/timing/interval.h"
#include "tuner/evaluate/timing/sequential_test.h"
#include "tuner/evaluate/timing/synthetic_noise.h"

namespace hone {
namespace {

// Returns the speedup of one timing of a case, as the judge measures it: with quads until the sequential test ends.
Interval TimeOnce(SyntheticNoise& noise, double log_speedup) {
  SequentialTest test({.max_quads = 50});
  std::vector<double> ratios;
  while (true) {
    ratios.push_back(noise.Quad(log_speedup));
    test.Add(ratios.back());
    if (test.AtLook() && test.Look() != Decision::kContinue) return RatioInterval(ratios);
  }
}

bool AlarmsOnCase(const GateRule& rule, SyntheticNoise& noise, double log_speedup) {
  CaseDecision decision(rule);
  while (decision.decision() == GateDecision::kMore) decision.Add(TimeOnce(noise, log_speedup));
  return decision.decision() == GateDecision::kSlower;
}

// Returns how many of `gates` gates fail. Each has `cases` cases, of which the first `slow` have this speedup and the
// others a speedup of 1.
int FailedGates(NoiseKind kind, double deviation, int gates, int cases, int slow, double log_speedup, uint64_t seed) {
  const GateRule rule = MakeGateRule(0.02, 0.01, cases);
  int failed = 0;
  for (int gate = 0; gate < gates; ++gate) {
    bool alarm = false;
    for (int c = 0; c < cases && !alarm; ++c) {
      SyntheticNoise noise(kind, deviation, seed + static_cast<uint64_t>(gate) * 1000 + static_cast<uint64_t>(c));
      alarm = AlarmsOnCase(rule, noise, c < slow ? log_speedup : 0);
    }
    failed += alarm;
  }
  return failed;
}

TEST(GateRule, TailsAreThoseOfTheBinomialDistribution) {
  EXPECT_NEAR(BinomialUpperTail(3, 1, 0.5), 7.0 / 8, 1e-12);
  EXPECT_NEAR(BinomialUpperTail(4, 4, 0.1), 1e-4, 1e-12);
  EXPECT_NEAR(BinomialUpperTail(2, 0, 0.3), 1, 1e-12);
}

TEST(GateRule, AsksForMoreHitsTheMoreIsCompared) {
  int before = 0;
  for (const int comparisons : {1, 10, 60, 1000, 100000}) {
    const GateRule rule = MakeGateRule(0.02, 0.01, comparisons);
    EXPECT_GE(rule.hits, before);
    EXPECT_LE(BinomialUpperTail(rule.rounds, rule.hits, kFalseHit) * comparisons, 0.01);
    EXPECT_GT(BinomialUpperTail(rule.rounds - 1, rule.hits - 1, kFalseHit) * comparisons, 0.01) << "fewer would do";
    before = rule.hits;
  }
}

TEST(CaseDecision, EndsAsSoonAsFurtherRoundsCannotChangeIt) {
  const GateRule rule = MakeGateRule(0.02, 0.01, 60);
  const Interval slow{0.95, 0.94, 0.96}, unsure{0.97, 0.95, 0.99}, fine{1, 0.99, 1.01};
  CaseDecision always(rule);
  for (int i = 1; i < rule.hits; ++i) EXPECT_EQ(always.Add(slow), GateDecision::kMore);
  EXPECT_EQ(always.Add(slow), GateDecision::kSlower);
  EXPECT_EQ(CaseDecision(rule).Add(fine), GateDecision::kWithin);
  CaseDecision never(rule);
  EXPECT_EQ(never.Add(unsure), GateDecision::kMore) << "its median is beyond the limit, its interval is not";
  while (never.decision() == GateDecision::kMore) never.Add(unsure);
  EXPECT_EQ(never.decision(), GateDecision::kWithin);
  EXPECT_EQ(never.rounds(), rule.rounds - rule.hits + 1);
}

TEST(CaseDecision, ModelledTimesDecideAtOnce) {
  const GateRule rule = MakeGateRule(0.02, 0.01, 60);
  EXPECT_EQ(CaseDecision(rule).AddModelled(0.979), GateDecision::kSlower);
  EXPECT_EQ(CaseDecision(rule).AddModelled(0.981), GateDecision::kWithin);
}

// A gate of equal kernels almost never fails. If all kernels lie exactly at the limit, where an alarm is barely false,
// at most the stated share of gates fails, within the scatter of a count (of 1,000 gates: mean 10, deviation 3.1).
TEST(GateRule, KeepsItsRateOfFalseAlarms) {
  EXPECT_LE(FailedGates(NoiseKind::kIndependent, 0.005, 1000, 60, 0, 0, 1), 0);
  for (const NoiseKind kind : kNoiseKinds) {
    EXPECT_LE(FailedGates(kind, 0.005, 100, 60, 0, 0, 1), 0) << NoiseName(kind);
    const bool worst = kind == NoiseKind::kSlowRatio;
    EXPECT_LE(FailedGates(kind, 0.005, worst ? 1000 : 200, 16, 16, -std::log(1.02), 7), worst ? 20 : 6)
        << NoiseName(kind);
  }
}

// The share of timings at the limit whose whole interval lies beyond it is at most the one that the rule assumes.
TEST(GateRule, ReckonsWithTheWorstNoiseThereIs) {
  for (const NoiseKind kind : kNoiseKinds) {
    int beyond = 0;
    constexpr int kTimings = 2000;
    for (int i = 0; i < kTimings; ++i) {
      SyntheticNoise noise(kind, 0.005, static_cast<uint64_t>(7 * i + 1));
      beyond += TimeOnce(noise, -std::log(1.02)).high < 1 / 1.02;
    }
    // Two standard deviations of a share of 11 % in 2,000 timings are 1.4 percentage points.
    EXPECT_LE(static_cast<double>(beyond) / kTimings, kFalseHit + 0.014) << NoiseName(kind);
  }
}

TEST(GateRule, FindsAKernelThatIsThreePercentSlower) {
  for (const NoiseKind kind : kNoiseKinds) {
    for (const double deviation : {0.005, 0.01}) {
      // Four of sixty cases are slower, such as all shapes of one kernel.
      EXPECT_GE(FailedGates(kind, deviation, 100, 60, 4, -std::log(1.03), 3), 90)
          << NoiseName(kind) << ", " << deviation;
    }
  }
}

}  // namespace
}  // namespace hone
