// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the rules for checked launches hold in timed launches too. Every kernel here behaves until the checks are
// over and breaks one rule after that, so that only the paired timer can find it.
#include <algorithm>
#include <map>
#include <set>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

// A number of launches after which all further ones are timed. Before them come five cases with up to six inputs each,
// the trials of the timed shape, and its rough times.
constexpr int64_t kChecksAreOver = 60;

// Returns a kernel that scales, and after the checks also does `trouble`.
std::function<void(FakeLaunch&)> LateTrouble(std::function<void(FakeLaunch&)> trouble) {
  return [trouble = std::move(trouble)](FakeLaunch& launch) {
    Scale(launch);
    if (launch.execution() > kChecksAreOver) trouble(launch);
  };
}

constexpr const char* kZeroScratch = "[[workspace]]\nname = \"scratch\"\nbytes = \"64\"\nzero = true\n";

TEST(TimedRules, AnInputChangedIsAViolation) {
  JudgeBench bench;
  bench.candidate().run = LateTrouble([](FakeLaunch& launch) { launch.Write("x", launch.Elements("x") - 1, 0); });
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
  EXPECT_NE(evaluation.detail.find("changed its input x in a timed launch"), std::string::npos) << evaluation.detail;
}

TEST(TimedRules, AZeroWorkspaceLeftDirtyIsAViolation) {
  JudgeBench bench;
  bench.plan_more = kZeroScratch;
  bench.candidate().run = LateTrouble([](FakeLaunch& launch) { launch.Address("scratch")[63] = 1; });
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
  EXPECT_NE(evaluation.detail.find("scratch"), std::string::npos) << evaluation.detail;
}

TEST(TimedRules, AGlobalLeftChangedIsAViolation) {
  JudgeBench bench;
  bench.candidate().run = LateTrouble([](FakeLaunch& launch) { launch.Global("calls") = 1; });
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
  EXPECT_NE(evaluation.detail.find("global"), std::string::npos) << evaluation.detail;
}

// Expects that a write after a launch's end is found. A plan whose last step does not wait for the others can be over
// before its work is: its times would be too short, and when the host looks, the output is right.
void ExpectLateWritesAreSeen(int64_t from_execution) {
  const auto late = [from_execution](FakeLaunch& launch) {
    Scale(launch);
    if (launch.execution() < from_execution || launch.Elements("out") == 0) return;
    const int64_t last = launch.Elements("out") - 1;
    const double right = launch.Read("out", last);
    launch.Write("out", last, right + 1);
    launch.WriteLate("out", last, right);
  };
  for (const bool gate : {true, false}) {
    JudgeBench bench;
    bench.gates.watch_ends = gate;
    bench.candidate().run = late;
    const Evaluation evaluation = bench.Run();
    if (!gate) {
      EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
      continue;
    }
    EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation) << evaluation.detail;
    EXPECT_NE(evaluation.detail.find("was still being written"), std::string::npos) << evaluation.detail;
  }
}
TEST(TimedRules, AnOutputStillWrittenBehindTheEndOfAFirstLaunchIsAViolation) { ExpectLateWritesAreSeen(0); }
TEST(TimedRules, AnOutputStillWrittenBehindTheEndOfASampleIsAViolation) { ExpectLateWritesAreSeen(kChecksAreOver); }

TEST(TimedRules, AnIncumbentOutsideItsBuffersIsNotTheCandidatesFault) {
  JudgeBench bench;
  int64_t launches = 0;
  bench.incumbent().run = [&launches](FakeLaunch& launch) {
    Scale(launch);
    if (++launches > 8) launch.Address("out")[-1] ^= 0x40;
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kInvalidTask);
  EXPECT_NE(evaluation.detail.find("the incumbent wrote outside"), std::string::npos) << evaluation.detail;
}

TEST(TimedRules, AnIncumbentThatGoesWrongIsNotTheCandidatesFault) {
  JudgeBench bench;
  int64_t launches = 0;
  bench.incumbent().run = [&launches](FakeLaunch& launch) {
    if (++launches > 8) return;
    Scale(launch);
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kInvalidTask);
  EXPECT_NE(evaluation.detail.find("the incumbent was wrong while it was timed"), std::string::npos) << evaluation.detail;
}

// This is found before anything is timed: the timed launches would be compared with the digests of these wrong outputs.
TEST(TimedRules, AnIncumbentThatIsWrongFromTheStartIsNotTimed) {
  JudgeBench bench;
  bench.incumbent().run = [](FakeLaunch& launch) {
    for (int64_t i = 0; i < launch.Elements("out"); ++i) launch.Write("out", i, 1);
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kInvalidTask);
  EXPECT_NE(evaluation.detail.find("the incumbent is wrong"), std::string::npos) << evaluation.detail;
  EXPECT_EQ(bench.session->timed_samples(), 0);
}

// Without slices the judge cannot reorder inputs and predict digests, so it judges whole outputs.
TEST(TimedRules, OutputsWithoutSlicesAreJudgedToo) {
  std::string toml(kAddTask);
  const std::string slice = "slice = \"rows\"\n";
  toml.erase(toml.find(slice), slice.size());
  JudgeBench honest(toml);
  EXPECT_EQ(honest.Run().verdict, Verdict::kOk);
  JudgeBench bench(toml);
  bench.candidate().run = [](FakeLaunch& launch) {
    if (launch.execution() > kChecksAreOver) return;
    for (int64_t i = 0; i < launch.Elements("x"); ++i) launch.Write("sum", i, launch.Read("sum", i) + launch.Read("x", i));
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput);
  EXPECT_NE(evaluation.detail.find("in a timed launch"), std::string::npos) << evaluation.detail;
}

TEST(TimedRules, AFailureThatOnlyAWarmCacheBringsCounts) {
  JudgeBench bench;
  bool warm = false;
  bench.candidate().microseconds = [&warm](const FakeTiming& timing) {
    warm = timing.cache == CacheState::kWarm;
    return 100.0;
  };
  bench.candidate().run = [&warm](FakeLaunch& launch) {
    if (!warm) Scale(launch);
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
  EXPECT_EQ(Timed(evaluation), nullptr);
}

TEST(TimedRules, ATimeOfZeroIsTheDevicesFaultAndNoSpeedup) {
  JudgeBench bench;
  bench.candidate().microseconds = Costs(0);
  const Result<Evaluation> evaluation = bench.Try();
  ASSERT_FALSE(evaluation.ok());
  EXPECT_EQ(evaluation.status().code(), StatusCode::kInternal);
  EXPECT_NE(evaluation.status().message().find("not positive"), std::string::npos) << evaluation.status().message();
}

// In a fixed order each buffer would always follow the same other one, except at the start of a sample.
TEST(TimedRules, TheBuffersOfASampleComeInEverNewOrders) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.candidate().microseconds = bench.incumbent().microseconds = Costs(40);
  bench.device.log_noise = {};
  std::vector<const char*> order;
  bench.candidate().run = [&order](FakeLaunch& launch) {
    Scale(launch);
    order.push_back(launch.Address("x"));
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  ASSERT_EQ(Timed(evaluation)->timing.plans_per_sample, 5);
  std::map<const char*, std::set<const char*>> before;
  for (size_t i = order.size() - 100; i < order.size(); ++i) before[order[i]].insert(order[i - 1]);
  ASSERT_EQ(before.size(), 5u);
  for (const auto& [buffer, predecessors] : before) EXPECT_GE(predecessors.size(), 3u);
}

// Returns a row's numbers as a key of a set.
std::vector<double> RowOf(const FakeLaunch& launch, int64_t row) {
  const int64_t cols = launch.Extent("x", 1);
  std::vector<double> numbers;
  for (int64_t i = 0; i < cols; ++i) numbers.push_back(launch.Read("x", row * cols + i));
  return numbers;
}

// The four samples of a quad have equal inputs. The oracle judges new rows after the first of them; what follows must
// be bit-equal.
TEST(TimedRules, TheOracleJudgesNewRowsOnceAQuad) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.candidate().microseconds = bench.incumbent().microseconds = Costs(1000);
  int64_t oracles = 0, of_checks = 0;
  bench.oracle().run = [&oracles](FakeLaunch& launch) {
    ScaleOracle(launch);
    ++oracles;
  };
  bench.candidate().run = [&](FakeLaunch& launch) {
    Scale(launch);
    if (launch.execution() <= kChecksAreOver) of_checks = oracles;
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  const int quads = Timed(evaluation)->timing.quads;
  ASSERT_GE(quads, 20);
  EXPECT_GE(oracles - of_checks, quads - kChecksAreOver / 2);
  EXPECT_LE(oracles - of_checks, quads + 10) << "each sample had an oracle of its own";
}

// The kernel is right about rows that it meets for the first time, and wrong about them when the same inputs come
// again, as they do in the later samples of a quad. All other rows are right.
TEST(TimedRules, ANewRowThatIsWrongInALaterSampleIsFound) {
  for (const bool incumbent_first : {false, true}) {
    JudgeBench bench;
    bench.options.warm = false;
    bench.options.seed += incumbent_first;
    bench.candidate().microseconds = bench.incumbent().microseconds = Costs(1000);
    std::map<std::vector<double>, int64_t> first_seen;
    std::set<std::vector<double>> of_checks;
    bench.candidate().run = [&](FakeLaunch& launch) {
      Scale(launch);
      const int64_t cols = launch.Extent("x", 1);
      for (int64_t row = 0; row < launch.Extent("x", 0); ++row) {
        const std::vector<double> numbers = RowOf(launch, row);
        if (launch.execution() <= kChecksAreOver) {
          of_checks.insert(numbers);
          continue;
        }
        const auto [known, is_new] = first_seen.try_emplace(numbers, launch.execution());
        if (is_new || of_checks.contains(numbers)) continue;
        for (int64_t i = 0; i < cols; ++i) launch.Write("out", row * cols + i, 0.25);
      }
    };
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
    EXPECT_NE(evaluation.detail.find("in a timed launch"), std::string::npos) << evaluation.detail;
  }
}

// A task whose outputs are not sliced has one set with new inputs, which is judged whole.
TEST(TimedRules, AWholeOutputThatIsWrongInALaterSampleIsFound) {
  JudgeBench bench;
  bench.task.slice.clear();
  for (TensorSpec& tensor : bench.task.tensors) tensor.slice_axis = -1;
  bench.options.warm = false;
  bench.candidate().microseconds = bench.incumbent().microseconds = Costs(1000);
  std::map<std::vector<double>, int> seen;
  bench.candidate().run = [&](FakeLaunch& launch) {
    Scale(launch);
    if (launch.execution() <= kChecksAreOver || launch.Elements("x") == 0) return;
    if (++seen[RowOf(launch, 0)] == 2) launch.Write("out", 0, 0.25);
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
  EXPECT_NE(evaluation.detail.find("in a timed launch"), std::string::npos) << evaluation.detail;
}

// One buffer set takes 12.4 KB. A launch of 20 us asks for ten sets, which would take most of this memory.
TEST(TimedRules, BufferSetsLeaveHalfOfTheMemoryFree) {
  JudgeBench bench;
  bench.device.facts.memory_bytes = 160 << 10;
  bench.candidate().microseconds = bench.incumbent().microseconds = Costs(20);
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  const int sets = Timed(evaluation)->timing.plans_per_sample;
  EXPECT_GE(sets, 2);
  EXPECT_LE(sets * (2 * 96 * 16 + 16) * 4, 80 << 10);
}

}  // namespace
}  // namespace hone
