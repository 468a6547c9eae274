// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the judge's rules for checked launches: the order of cases, the contents of memory before a launch, the
// requirements on a launch, and the test of the comparison itself.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/judge/judge_fixture.h"
#include "tuner/evaluate/judge/judge_policy.h"

namespace hone {
namespace {

// Returns the scale task without its case of no rows.
std::string TaskWithoutEmptyCase() {
  std::string toml(kScaleTask);
  const std::string empty = "[[case]]\nrole = \"check\"\ndims = { rows = 0, cols = 8 }\n";
  return toml.erase(toml.find(empty), empty.size());
}

TEST(CheckedRules, CasesComeInTheOrderOfTheirSize) {
  JudgeBench bench(TaskWithoutEmptyCase());
  bench.options.time = false;
  bench.task.hand_worked_cases.clear();  // hand-worked cases come last, whatever their size
  bench.task.hidden.clear();      // the shapes beyond the hidden ranges come last too
  std::vector<int64_t> sizes;
  bench.candidate().run = [&sizes](FakeLaunch& launch) {
    Scale(launch);
    sizes.push_back(2 * launch.Elements("x") + launch.Elements("w"));
  };
  ASSERT_EQ(bench.Run().verdict, Verdict::kOk);
  ASSERT_GE(sizes.size(), 4u);
  EXPECT_LT(sizes.front(), sizes.back());
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
}

// The case of no rows comes last, and must not take the place of the largest one.
TEST(CheckedRules, TheLargestCaseMeetsAllStressValuesBesideAnEmptyOne) {
  for (const std::string& toml : {std::string(kScaleTask), TaskWithoutEmptyCase()}) {
    JudgeBench bench(toml);
    bench.options.time = false;
    bench.task.hidden.clear();
    size_t at_the_smallest = 0, at_the_largest = 0;
    bench.candidate().run = [&](FakeLaunch& launch) {
      Scale(launch);
      at_the_smallest += launch.Extent("x", 0) == 3;
      at_the_largest += launch.Extent("x", 0) == 40;
    };
    ASSERT_EQ(bench.Run().verdict, Verdict::kOk);
    EXPECT_EQ(at_the_smallest, 1 + std::size(policy::kStress));
    EXPECT_EQ(at_the_largest, 1 + std::size(policy::kStress));
  }
}

TEST(CheckedRules, AZeroWorkspaceLeftDirtyIsAViolation) {
  JudgeBench bench;
  bench.options.time = false;
  bench.plan_more = "[[workspace]]\nname = \"scratch\"\nbytes = \"64\"\nzero = true\n";
  bench.candidate().run = [](FakeLaunch& launch) {
    Scale(launch);
    launch.Address("scratch")[63] = 1;
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
  EXPECT_NE(evaluation.detail.find("scratch"), std::string::npos) << evaluation.detail;
}

TEST(CheckedRules, AWorkspaceThatAsksForNothingIsNotZero) {
  JudgeBench bench;
  bench.plan_more = "[[workspace]]\nname = \"scratch\"\nbytes = \"64\"\n";
  int64_t launches = 0, zero = 0;
  bench.candidate().run = [&](FakeLaunch& launch) {
    const char* scratch = launch.Address("scratch");
    ++launches;
    zero += std::all_of(scratch, scratch + 64, [](char c) { return c == 0; });
    Scale(launch);
  };
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
  EXPECT_GT(launches, 0);
  EXPECT_EQ(zero, 0);
}

// Candidate and incumbent share buffers, and each may ask for a larger workspace than the other.
TEST(CheckedRules, EachSideGetsAsMuchWorkspaceAsItAskedFor) {
  const auto workspace = [](int bytes) { return "[[workspace]]\nname = \"scratch\"\nbytes = \"" + std::to_string(bytes) + "\"\n"; };
  const auto filling = [](size_t bytes) {
    return [bytes](FakeLaunch& launch) {
      std::fill_n(launch.Address("scratch"), bytes, '\x11');
      Scale(launch);
    };
  };
  for (const auto& [mine, theirs] : {std::pair{64, 40000}, {40000, 64}}) {
    JudgeBench bench;
    bench.plan_more = workspace(mine);
    bench.incumbent_more = workspace(theirs);
    bench.candidate().run = filling(static_cast<size_t>(mine));
    bench.incumbent().run = filling(static_cast<size_t>(theirs));
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, Verdict::kOk) << mine << " and " << theirs << ": " << evaluation.detail;
  }
}

TEST(CheckedRules, HandWorkedValuesAreForCandidatesUnlessTheTaskSaysOtherwise) {
  const auto run = [](bool for_candidates) {
    std::string toml(kScaleTask);
    if (!for_candidates) toml += "candidates = false\n";
    JudgeBench bench(toml);
    bench.options.time = false;
    bench.candidate().run = [](FakeLaunch& launch) {
      Scale(launch);
      if (launch.Elements("x") == 2 && launch.Read("x", 0) == 1 && launch.Read("x", 1) == 2) launch.Write("out", 0, 4);
    };
    return bench.Run();
  };
  EXPECT_EQ(run(false).verdict, Verdict::kOk);
  const Evaluation evaluation = run(true);
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput);
  EXPECT_NE(evaluation.detail.find("hand-worked"), std::string::npos) << evaluation.detail;
}

TEST(CheckedRules, AHandWorkedCaseThatTheOracleMissesMakesTheTaskInvalid) {
  JudgeBench right{std::string(kScaleTask)};
  right.options.time = false;
  const Evaluation passed = right.Run();
  EXPECT_EQ(passed.verdict, Verdict::kOk) << passed.detail;
  EXPECT_EQ(passed.metrics.at("hand_cases"), 1);
  std::string toml(kScaleTask);
  const std::string outputs = "outputs.out = [";
  const size_t at = toml.find(outputs);
  ASSERT_NE(at, std::string::npos);
  toml.insert(at + outputs.size(), "1");  // the hand-worked result 2 becomes 12
  JudgeBench wrong(toml);
  wrong.options.time = false;
  const Evaluation evaluation = wrong.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kInvalidTask) << evaluation.detail;
  EXPECT_NE(evaluation.detail.find("worked out by hand it is 1"), std::string::npos) << evaluation.detail;
}

// The candidate's second launch is of the smallest case again, with its first set of stress values.
TEST(CheckedRules, InputsAreCalledStressedOnlyWhereATensorTakesStressValues) {
  const auto run = [](bool stressed) {
    std::string toml(kScaleTask);
    const std::string role = "role = \"in\"\n";
    for (size_t at = toml.find(role); !stressed && at != std::string::npos; at = toml.find(role, at + role.size())) {
      toml.insert(at + role.size(), "stress = false\n");
    }
    JudgeBench bench(toml);
    bench.options.time = false;
    bench.candidate().run = [launches = 0](FakeLaunch& launch) mutable {
      Scale(launch);
      if (++launches == 2) launch.Write("out", 0, launch.Read("out", 0) + 100);
    };
    return bench.Run();
  };
  const Evaluation stressed = run(true), plain = run(false);
  ASSERT_TRUE(stressed.mismatch && plain.mismatch) << stressed.detail << plain.detail;
  EXPECT_EQ(stressed.mismatch->distribution, "special");
  EXPECT_EQ(plain.mismatch->distribution, "default");
  EXPECT_NE(plain.detail.find("(default inputs)"), std::string::npos) << plain.detail;
}

TEST(CheckedRules, WhatWasNotCheckedSaysSo) {
  JudgeBench bench;
  bench.options.check_cases = false;
  const Evaluation unchecked = bench.Run();
  ASSERT_EQ(unchecked.verdict, Verdict::kOk) << unchecked.detail;
  EXPECT_EQ(unchecked.labels, std::vector<std::string>{"unchecked"});
  EXPECT_TRUE(JudgeBench().Run().labels.empty());
}

// The judge computes the memory that it needs before it allocates any. If the device reported that memory is out, no
// one could be blamed.
TEST(CheckedRules, MemoryThatIsNotThereIsAVerdict) {
  JudgeBench greedy;
  greedy.plan_more = "[[workspace]]\nname = \"scratch\"\nbytes = \"" +
                     std::to_string(FakeDevice::DefaultFacts().memory_bytes - 4) + "\"\n";
  const Evaluation evaluation = greedy.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kResourceLimit) << evaluation.detail;
  JudgeBench small;
  small.device.facts.memory_bytes = 8 << 10;  // the case of 40 x 33 takes 10.7 KB
  const Evaluation too_large = small.Run();
  EXPECT_EQ(too_large.verdict, Verdict::kUnsupported) << too_large.detail;
  EXPECT_NE(too_large.detail.find("rows=40"), std::string::npos) << too_large.detail;
}

// A device whose comparison never finds anything wrong.
class BlindSession : public FakeSession {
 public:
  using FakeSession::FakeSession;
  Result<Comparison> Compare(const TensorView& output, uint64_t, const Tolerance&) override {
    Comparison comparison;
    comparison.total = output.elements;
    return comparison;
  }
};

// The smallest case by bytes has no rows: it has weights, but nothing to compare. So another case must test the
// comparison.
TEST(CheckedRules, AComparisonThatSeesNothingEndsTheSessionNotTheCandidate) {
  JudgeBench bench;
  bench.make_session = [](const FakeDevice& device) { return std::make_unique<BlindSession>(device); };
  const Result<Evaluation> evaluation = bench.Try();
  ASSERT_FALSE(evaluation.ok());
  EXPECT_EQ(evaluation.status().code(), StatusCode::kInternal);
  EXPECT_NE(evaluation.status().message().find("planted wrong in out"), std::string::npos) << evaluation.status().message();
}

// The kernel is wrong beyond kElements, as one with 32-bit indices is beyond 2^31 elements.
TEST(VastShapes, AreComparedBeyondTheElementsThatAnIndexCounts) {
  constexpr int64_t kElements = 1200;
  const auto wraps = [](FakeLaunch& launch) {
    Scale(launch);
    for (int64_t i = kElements; i < launch.Elements("out"); ++i) launch.Write("out", i, 0.5);
  };
  JudgeBench honest;
  honest.vast_elements = kElements;
  const Evaluation right = honest.Run();
  EXPECT_EQ(right.verdict, Verdict::kOk) << right.detail;
  EXPECT_GT(right.metrics.at("vast_slices"), 0);
  EXPECT_EQ(honest.session->timed_samples(), 0);

  JudgeBench cheat;
  cheat.vast_elements = kElements;
  cheat.candidate().run = wraps;
  EXPECT_EQ(cheat.Run().verdict, Verdict::kWrongOutput);

  // A launch that fails because of the size is not held against the candidate.
  JudgeBench refused;
  refused.vast_elements = kElements;
  refused.candidate().run = [](FakeLaunch& launch) { launch.Fail(LaunchStatus::kLaunchError, "the grid is too large"); };
  EXPECT_EQ(refused.Run().verdict, Verdict::kOk);

  // A task whose sizes are never that large has no such shape.
  JudgeBench small;
  small.vast_elements = int64_t{1} << 40;
  const Evaluation none = small.Run();
  EXPECT_EQ(none.verdict, Verdict::kOk);
  EXPECT_EQ(small.session->launches(), 0);
}

}  // namespace
}  // namespace hone
