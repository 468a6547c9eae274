// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what the judge and the paired timer promise about their measurements: fair orders, fresh inputs, honest
// alignment, and decisions that hold for many secret seeds.
#include <cmath>
#include <memory>
#include <set>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

std::function<double()> NormalNoise(double deviation, uint64_t seed) {
  return [deviation, random = std::make_shared<std::mt19937_64>(seed)] {
    return deviation * std::normal_distribution<double>()(*random);
  };
}

TEST(TimingProtocol, EqualKernelsAreNotClaimedToDiffer) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    JudgeBench bench;
    bench.options.seed = seed;
    bench.options.warm = false;
    bench.device.log_noise = NormalNoise(0.01, seed);
    const Evaluation evaluation = bench.Run();
    ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
    EXPECT_NE(Timed(evaluation)->timing.decision, "faster") << "seed " << seed;
    EXPECT_NE(Timed(evaluation)->timing.decision, "slower") << "seed " << seed;
  }
}

TEST(TimingProtocol, TwoPercentIsFoundAtOrdinaryNoise) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    JudgeBench bench;
    bench.options.seed = seed;
    bench.options.warm = false;
    bench.candidate().microseconds = Costs(102);
    bench.device.log_noise = NormalNoise(0.01, seed);
    const Evaluation evaluation = bench.Run();
    ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
    EXPECT_EQ(Timed(evaluation)->timing.decision, "slower") << "seed " << seed;
  }
}

TEST(TimingProtocol, TheShareOfLibraryCallsIsTimedAlone) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.plan_more =
      "[[workspace]]\nname = \"h\"\nbytes = \"rows * 4\"\n[[call]]\nstep = 1\nop = \"matmul\"\na = \"x\"\nb = \"w\"\nout = \"h\"\nm = \"rows\"\n"
      "n = \"1\"\nk = \"cols\"\n";
  bench.candidate().microseconds = Costs(75);
  bench.incumbent().microseconds = Costs(200);
  bench.device.call_microseconds = 25;
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  const CaseResult& timed = *Timed(evaluation);
  EXPECT_NEAR(timed.time_us->median, 100, 2);
  ASSERT_TRUE(timed.calls_us);
  EXPECT_NEAR(*timed.calls_us, 25, 1);
  EXPECT_EQ(timed.timing.decision, "faster");
  EXPECT_FALSE(Timed(JudgeBench().Run())->calls_us);
}

TEST(TimingProtocol, ASlowFirstSampleOfEachQuadFavoursNobody) {
  // The kernel is long, so a sample has one plan and there are no audits. Three rough samples and two that are
  // discarded come before the quads.
  JudgeBench bench;
  bench.options.warm = false;
  bench.candidate().microseconds = bench.incumbent().microseconds = Costs(1000);
  int64_t sample = 0;
  bench.device.log_noise = [&sample, noise = NormalNoise(0.001, 1)] {
    const int64_t n = sample++;
    return noise() + (n >= 5 && (n - 5) % 4 == 0 ? 0.05 : 0.0);
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Timed(evaluation)->timing.plans_per_sample, 1);
  EXPECT_NE(Timed(evaluation)->timing.decision, "faster");
  EXPECT_NE(Timed(evaluation)->timing.decision, "slower");
}

TEST(TimingProtocol, BothOrdersOfAQuadOccurAndNothingElse) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.candidate().microseconds = bench.incumbent().microseconds = Costs(1000);
  std::string order;
  bench.candidate().run = [&order](FakeLaunch& launch) { order += 'A'; Scale(launch); };
  bench.incumbent().run = [&order](FakeLaunch& launch) { order += 'B'; Scale(launch); };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  const auto quads = static_cast<size_t>(Timed(evaluation)->timing.quads);
  ASSERT_GE(order.size(), 4 * quads);
  order = order.substr(order.size() - 4 * quads);
  size_t abba = 0;
  for (size_t quad = 0; quad < quads; ++quad) {
    const std::string four = order.substr(4 * quad, 4);
    EXPECT_TRUE(four == "ABBA" || four == "BAAB") << four;
    abba += four == "ABBA";
  }
  EXPECT_GT(abba, 0u);
  EXPECT_LT(abba, quads);
}

TEST(TimingProtocol, EveryQuadBringsInputsNeverSeenBefore) {
  JudgeBench bench;
  bench.options.warm = false;
  std::set<std::vector<double>> inputs;
  int64_t launches = 0;
  bench.candidate().run = [&](FakeLaunch& launch) {
    Scale(launch);
    if (launch.Extent("x", 0) != 96) return;
    ++launches;
    std::vector<double> all;
    for (int64_t i = 0; i < launch.Elements("x"); ++i) all.push_back(launch.Read("x", i));
    inputs.insert(all);
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  // Every quad runs twice on each buffer set with the same values, which are never used again.
  const auto quads = static_cast<size_t>(Timed(evaluation)->timing.quads);
  const auto sets = static_cast<size_t>(Timed(evaluation)->timing.plans_per_sample);
  EXPECT_GE(inputs.size(), quads * sets);
}

TEST(TimingProtocol, OneSampleRunsOnDisjointBuffersAndOrdersChange) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.candidate().microseconds = Costs(20);
  bench.incumbent().microseconds = Costs(20);
  bench.device.log_noise = {};
  std::vector<const char*> addresses;
  bench.candidate().run = [&](FakeLaunch& launch) {
    Scale(launch);
    addresses.push_back(launch.Address("x"));
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  const auto sets = static_cast<size_t>(Timed(evaluation)->timing.plans_per_sample);
  ASSERT_EQ(sets, 10u);  // 200 us per sample, 20 us per plan
  // These are the last whole samples. Audits may lie between them, so the test only counts distinct addresses.
  const std::set<const char*> distinct(addresses.end() - static_cast<std::ptrdiff_t>(20 * sets), addresses.end());
  EXPECT_EQ(distinct.size(), sets);
}

TEST(TimingProtocol, CheckCasesOfOneAlignmentAreAlignedAsPromisedAndNoBetter) {
  JudgeBench bench;
  bench.options.time = false;
  bench.gates.both_alignments = false;
  int64_t looked = 0, better = 0, worse = 0;
  bench.candidate().run = [&](FakeLaunch& launch) {
    Scale(launch);
    for (const auto& [name, view] : launch.bindings().tensors) {
      ++looked;
      worse += view.address % 16 != 0;
      better += view.address % 32 == 0;
    }
  };
  ASSERT_EQ(bench.Run().verdict, Verdict::kOk);
  EXPECT_GT(looked, 0);
  EXPECT_EQ(worse, 0);
  EXPECT_EQ(better, 0);
}

TEST(TimingProtocol, MaxQuadsIsKept) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.options.max_quads = 10;
  bench.device.log_noise = NormalNoise(0.05, 3);
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_LE(Timed(evaluation)->timing.quads, 10);
}

TEST(TimingProtocol, HopelessNoiseIsInconclusiveAndSaysSo) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.device.log_noise = NormalNoise(0.3, 3);
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Timed(evaluation)->timing.decision, "undecided");
  EXPECT_EQ(Timed(evaluation)->timing.status, "inconclusive");
}

TEST(TimingProtocol, AWorkingSetThatCannotBeWarmHasNoWarmTime) {
  JudgeBench bench;
  bench.device.facts.l2_bytes = 2048;  // bytes; the timed tensors take 12 KB
  bench.device.facts.memory_bandwidth = 1e10;
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_FALSE(Timed(evaluation)->warm_time_us);
}

TEST(TimingProtocol, AModelledDeviceIsNeverMeasured) {
  JudgeBench bench;
  bench.device.facts.modelled = true;
  bench.candidate().microseconds = Costs(50);
  bench.device.log_noise = {};
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_TRUE(evaluation.modelled);
  EXPECT_EQ(Timed(evaluation)->timing.status, "modelled");
  EXPECT_EQ(Timed(evaluation)->timing.quads, 0);
  EXPECT_EQ(Timed(evaluation)->time_us->low, Timed(evaluation)->time_us->high);
  EXPECT_DOUBLE_EQ(Timed(evaluation)->speedup->median, 2);
  EXPECT_LT(*Timed(evaluation)->refuse_below_us, Timed(evaluation)->time_us->median);
}

TEST(TimingProtocol, AModelledTimeThatNoMemoryDeliversIsRefused) {
  JudgeBench bench;
  bench.device.facts.modelled = true;
  bench.device.log_noise = {};
  bench.candidate().microseconds = Costs(1e-6);
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation) << evaluation.detail;
  EXPECT_NE(evaluation.detail.find("impossible"), std::string::npos) << evaluation.detail;
}

TEST(TimingProtocol, OnlyTheTimeCasesAskedForAreTimed) {
  JudgeBench bench;
  bench.options.only_time_cases = {1};  // there is only case 0
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(Timed(evaluation), nullptr);
}

}  // namespace
}  // namespace hone
