// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests candidates that try to be fast without doing the work, each with the verdict it deserves, and honest candidates
// with unusual habits, which must pass.
//
// The lambdas may keep state in their captures, which the harness cannot reach. So a cheat is caught by what it wrote,
// and not by where it hid its state.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

// Judges the candidate `run`, which would be ten times faster than the incumbent if its outputs were accepted.
Evaluation JudgeCheat(std::function<void(FakeLaunch&)> run, std::string_view toml = kScaleTask) {
  JudgeBench bench(toml);
  bench.candidate() = {.run = std::move(run), .microseconds = Costs(20)};
  bench.incumbent().microseconds = Costs(200);
  Evaluation evaluation = bench.Run();
  testing::Test::RecordProperty("detail", evaluation.detail);
  return evaluation;
}

// --- state ---

TEST(JudgeCheat, ReplayingTheFirstOutputForABufferIsSeen) {
  auto seen = std::make_shared<std::map<const char*, std::vector<double>>>();
  const Evaluation evaluation = JudgeCheat([seen](FakeLaunch& launch) {
    std::vector<double>& output = (*seen)[launch.Address("x")];
    if (static_cast<int64_t>(output.size()) == launch.Elements("out")) {
      for (int64_t i = 0; i < launch.Elements("out"); ++i) launch.Write("out", i, output[static_cast<size_t>(i)]);
      return;
    }
    Scale(launch);
    output.clear();
    for (int64_t i = 0; i < launch.Elements("out"); ++i) output.push_back(launch.Read("out", i));
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
}

TEST(JudgeCheat, CachingByTheFirstElementsOfTheInputIsSeen) {
  auto seen = std::make_shared<std::map<std::vector<double>, std::vector<double>>>();
  const Evaluation evaluation = JudgeCheat([seen](FakeLaunch& launch) {
    std::vector<double> prefix;
    for (int64_t i = 0; i < std::min<int64_t>(launch.Elements("x"), launch.Extent("x", 1)); ++i) prefix.push_back(launch.Read("x", i));
    std::vector<double>& output = (*seen)[prefix];
    if (static_cast<int64_t>(output.size()) == launch.Elements("out")) {
      for (int64_t i = 0; i < launch.Elements("out"); ++i) launch.Write("out", i, output[static_cast<size_t>(i)]);
      return;
    }
    Scale(launch);
    output.clear();
    for (int64_t i = 0; i < launch.Elements("out"); ++i) output.push_back(launch.Read("out", i));
  });
  // The base inputs return with their rows in new orders: the same first row, but other rows after it.
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
}

TEST(JudgeCheat, RememberingWholeRowsIsSeen) {
  // This is the strongest cache: a table from a row's content to its result. Every launch has rows never seen before,
  // so the cheat must compute them and is only a slow honest kernel. Leaving new rows out is found.
  auto table = std::make_shared<std::map<std::vector<double>, std::vector<double>>>();
  const Evaluation evaluation = JudgeCheat([table](FakeLaunch& launch) {
    const int64_t cols = launch.Extent("x", 1);
    const bool learning = launch.execution() < 40;
    for (int64_t row = 0; row < launch.Extent("x", 0); ++row) {
      std::vector<double> key;
      for (int64_t i = 0; i < cols; ++i) key.push_back(launch.Read("x", row * cols + i));
      for (int64_t i = 0; i < cols; ++i) key.push_back(launch.Read("w", i));
      auto known = table->find(key);
      if (known == table->end()) {
        if (!learning) {  // the cheat does not compute new rows: it writes zeros
          for (int64_t i = 0; i < cols; ++i) launch.Write("out", row * cols + i, 0.0);
          continue;
        }
        ScaleRows(launch, row, row + 1);
        std::vector<double> output;
        for (int64_t i = 0; i < cols; ++i) output.push_back(launch.Read("out", row * cols + i));
        known = table->emplace(key, output).first;
      }
      for (int64_t i = 0; i < cols; ++i) launch.Write("out", row * cols + i, known->second[static_cast<size_t>(i)]);
    }
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
}

TEST(JudgeCheat, AGlobalLeftChangedIsARuleViolation) {
  const Evaluation evaluation = JudgeCheat([](FakeLaunch& launch) {
    Scale(launch);
    launch.Global("calls") = 1;
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
  EXPECT_NE(evaluation.detail.find("global"), std::string::npos) << evaluation.detail;
}

TEST(JudgeCheat, AZeroWorkspaceLeftDirtyIsARuleViolation) {
  JudgeBench bench;
  bench.plan_more = "[[workspace]]\nname = \"scratch\"\nbytes = \"64\"\nzero = true\n";
  bench.candidate().run = [](FakeLaunch& launch) {
    Scale(launch);
    launch.Address("scratch")[63] = 1;
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
  EXPECT_NE(evaluation.detail.find("scratch"), std::string::npos) << evaluation.detail;
}

TEST(JudgeCheat, AResultKeptInAWorkspaceDoesNotSurvive) {
  JudgeBench bench;
  bench.plan_more = "[[workspace]]\nname = \"scratch\"\nbytes = \"4 * rows * cols + 4\"\n";
  bench.candidate().run = [](FakeLaunch& launch) {
    char* scratch = launch.Address("scratch");
    const auto bytes = static_cast<size_t>(4 * launch.Elements("out"));
    uint32_t magic = 0;
    std::memcpy(&magic, scratch, 4);
    if (magic == 0x12345678) {
      std::memcpy(launch.Address("out"), scratch + 4, bytes);  // the output of an earlier launch
      return;
    }
    Scale(launch);
    magic = 0x12345678;
    std::memcpy(scratch, &magic, 4);
    std::memcpy(scratch + 4, launch.Address("out"), bytes);
  };
  // Workspaces are poisoned before each launch, so the kept result is never found, and the kernel is merely honest.
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
}

// --- partial work ---

TEST(JudgeCheat, OneRowInSixtyFourLeftOutIsUnwritten) {
  const Evaluation evaluation = JudgeCheat([](FakeLaunch& launch) {
    for (int64_t row = 0; row < launch.Extent("x", 0); ++row) {
      if (row % 64 != 63) ScaleRows(launch, row, row + 1);
    }
  });
  // Only the timed shape has that many rows.
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
}

TEST(JudgeCheat, WorkingOnlyUntilTheChecksAreOverIsSeen) {
  for (int64_t honest : {12, 20, 30, 60, 150}) {
    const Evaluation evaluation = JudgeCheat([honest](FakeLaunch& launch) {
      if (launch.execution() < honest) Scale(launch);
    });
    EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << "honest for " << honest << " launches: " << evaluation.detail;
  }
}

TEST(JudgeCheat, LeavingOutOneLaunchInTenIsSeen) {
  const Evaluation evaluation = JudgeCheat([](FakeLaunch& launch) {
    if (launch.execution() < 30 || launch.execution() % 10 != 0) Scale(launch);
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
}

TEST(JudgeCheat, WorkingOnlyForTheFirstOfSeveralLaunchesIsSeen) {
  // The cheat remembers the last launch's buffers and takes a launch on other buffers for a later one of the same
  // sample.
  auto first = std::make_shared<const char*>(nullptr);
  const Evaluation evaluation = JudgeCheat([first](FakeLaunch& launch) {
    if (launch.execution() >= 30 && *first != nullptr && *first != launch.Address("x")) {
      *first = launch.Address("x");
      return;
    }
    *first = launch.Address("x");
    Scale(launch);
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
}

TEST(JudgeCheat, WorkingAheadForLaterLaunchesIsARuleViolation) {
  // As soon as one buffer set is launched, the cheat does the work of all sets it has ever seen. Outputs are right, but
  // an audit that stops early finds a set written that was not launched yet.
  struct Known {
    std::map<const char*, Bindings> sets;
  };
  auto known = std::make_shared<Known>();
  const Evaluation evaluation = JudgeCheat([known](FakeLaunch& launch) {
    Scale(launch);
    if (launch.execution() < 20) return;
    known->sets[launch.Address("x")] = launch.bindings();
    for (auto& [address, bindings] : known->sets) {
      if (address == launch.Address("x")) continue;
      std::map<std::string, int64_t> none;
      FakeLaunch other(launch.step(), bindings, none, 0);
      Scale(other);
    }
  });
  EXPECT_NE(evaluation.verdict, Verdict::kOk) << evaluation.detail;
}

TEST(JudgeCheat, ZerosAndMeansAreWrong) {
  EXPECT_EQ(JudgeCheat([](FakeLaunch& launch) {
              for (int64_t i = 0; i < launch.Elements("out"); ++i) launch.Write("out", i, 0);
            }).verdict,
            Verdict::kWrongOutput);
  EXPECT_EQ(JudgeCheat([](FakeLaunch& launch) {
              const int64_t cols = launch.Extent("x", 1);
              for (int64_t i = 0; i < launch.Elements("out"); ++i) launch.Write("out", i, launch.Read("x", i / cols * cols) * 2);
            }).verdict,
            Verdict::kWrongOutput);
}

// --- input sniffing ---

TEST(JudgeCheat, BeingRightForOrdinaryValuesOnlyIsSeen) {
  const Evaluation evaluation = JudgeCheat([](FakeLaunch& launch) {
    Scale(launch);
    for (int64_t i = 0; i < launch.Elements("out"); ++i) {
      if (std::abs(launch.Read("x", i)) > 50) launch.Write("out", i, 0);
    }
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput);
  EXPECT_NE(evaluation.mismatch->distribution, "default") << evaluation.detail;
}

TEST(JudgeCheat, BeingRightAtTheCheckedSizesOnlyIsSeen) {
  const Evaluation evaluation = JudgeCheat([](FakeLaunch& launch) {
    const bool published = (launch.Extent("x", 0) == 3 && launch.Extent("x", 1) == 5) ||
                           (launch.Extent("x", 0) == 40 && launch.Extent("x", 1) == 33);
    if (published) return Scale(launch);
    for (int64_t i = 0; i < launch.Elements("out"); ++i) launch.Write("out", i, 1);
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput);
  // A hidden case finds this, before anything is timed.
  ASSERT_TRUE(evaluation.mismatch);
  EXPECT_NE(evaluation.mismatch->dims, (Dims{{"rows", 96}, {"cols", 16}}));
}

TEST(JudgeCheat, CopyingTheInputWhereTheWeightsAreOneIsSeen) {
  const Evaluation evaluation = JudgeCheat([](FakeLaunch& launch) {
    for (int64_t i = 0; i < launch.Elements("out"); ++i) launch.Write("out", i, launch.Read("x", i));
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput);
}

// --- memory ---

TEST(JudgeCheat, ChangingAnInputIsARuleViolation) {
  const Evaluation evaluation = JudgeCheat([](FakeLaunch& launch) {
    Scale(launch);
    if (launch.Elements("x") > 0) launch.Write("x", launch.Elements("x") - 1, 0);
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
  EXPECT_NE(evaluation.detail.find("input x"), std::string::npos) << evaluation.detail;
}

TEST(JudgeCheat, ZeroingInputsToMakeAnyAnswerRightIsARuleViolation) {
  const Evaluation evaluation = JudgeCheat([](FakeLaunch& launch) {
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      launch.Write("x", i, 0);
      launch.Write("out", i, 0);
    }
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation) << evaluation.detail;
}

TEST(JudgeCheat, WritingPastABufferIsARuleViolation) {
  for (int64_t offset : {0, 12, 200}) {
    const Evaluation evaluation = JudgeCheat([offset](FakeLaunch& launch) {
      Scale(launch);
      launch.Address("out")[4 * launch.Elements("out") + offset] ^= 0x40;
    });
    EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
    EXPECT_NE(evaluation.detail.find("outside its buffers"), std::string::npos) << evaluation.detail;
  }
}

TEST(JudgeCheat, WritingBeforeABufferOnlyInTimedLaunchesIsARuleViolation) {
  const Evaluation evaluation = JudgeCheat([](FakeLaunch& launch) {
    Scale(launch);
    if (launch.execution() > 50) launch.Address("out")[-1] ^= 0x40;
  });
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation) << evaluation.detail;
}

// --- in place ---

TEST(JudgeCheat, AnInPlaceTensorLeftUntouchedIsWrong) {
  EXPECT_EQ(JudgeCheat([](FakeLaunch&) {}, kAddTask).verdict, Verdict::kWrongOutput);
}

TEST(JudgeCheat, AnInPlaceUpdateDoneOnlyUntilTimingIsWrong) {
  const Evaluation evaluation = JudgeCheat(
      [](FakeLaunch& launch) {
        if (launch.execution() >= 30) return;
        for (int64_t i = 0; i < launch.Elements("x"); ++i) launch.Write("sum", i, launch.Read("sum", i) + launch.Read("x", i));
      },
      kAddTask);
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
}

// --- timing ---

TEST(JudgeCheat, BeingFastOnlyOnBuffersSeenAMomentAgoGainsNothing) {
  JudgeBench bench;
  bench.candidate().microseconds = [](const FakeTiming& timing) { return timing.repeats_addresses ? 10.0 : 100.0; };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_NEAR(Timed(evaluation)->time_us->median, 100, 1) << "a graph used the same buffers twice in a row";
}

TEST(JudgeCheat, BeingFastOnlyWhenWarmShowsInTheWarmTimeAlone) {
  JudgeBench bench;
  bench.candidate().microseconds = [](const FakeTiming& timing) { return timing.cache == CacheState::kWarm ? 40.0 : 100.0; };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_NEAR(Timed(evaluation)->time_us->median, 100, 1);
  EXPECT_NE(Timed(evaluation)->timing.decision, "faster");
  EXPECT_NEAR(Timed(evaluation)->warm_time_us->median, 40, 1);
}

TEST(JudgeCheat, ADriftOfTheDeviceFavoursNobody) {
  // The device slows down by a third while two equal kernels are timed.
  JudgeBench bench;
  int64_t samples = 0;
  bench.device.log_noise = [&samples, random = std::make_shared<std::mt19937_64>(3)] {
    return 0.001 * static_cast<double>(samples++) + 0.003 * std::normal_distribution<double>()(*random);
  };
  const Evaluation evaluation = bench.Run();
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_NE(Timed(evaluation)->timing.decision, "faster");
  EXPECT_NE(Timed(evaluation)->timing.decision, "slower");
  EXPECT_NEAR(Timed(evaluation)->speedup->median, 1, 0.005);
}

// --- honest, with unusual habits ---

TEST(JudgeHonest, AnOrderOfAdditionThatChangesFromLaunchToLaunchPasses) {
  // Atomic additions do this: the last bit differs from run to run.
  auto random = std::make_shared<std::mt19937_64>(5);
  JudgeBench bench;
  bench.candidate().run = [random](FakeLaunch& launch) {
    const int64_t cols = launch.Extent("x", 1);
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      const double exact = launch.Read("x", i) * launch.Read("w", i % cols);
      launch.Write("out", i, exact * (1 + ((*random)() % 3 == 0 ? 0x1p-23 : 0.0)));
    }
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_NE(std::find(evaluation.labels.begin(), evaluation.labels.end(), "nondeterministic"), evaluation.labels.end());
}

TEST(JudgeHonest, ARoundingThatDependsOnTheRowsPlacePasses) {
  JudgeBench bench;
  bench.candidate().run = [](FakeLaunch& launch) {
    const int64_t cols = launch.Extent("x", 1);
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      const double exact = launch.Read("x", i) * launch.Read("w", i % cols);
      launch.Write("out", i, exact * (1 + (i / cols % 2 == 0 ? 0x1p-23 : 0.0)));
    }
  };
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
}

TEST(JudgeHonest, ACounterThatResetsItselfPasses) {
  JudgeBench bench;
  bench.candidate().run = [](FakeLaunch& launch) {
    launch.Global("arrived") = launch.Extent("x", 0);
    Scale(launch);
    launch.Global("arrived") = 0;
  };
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
}

TEST(JudgeHonest, AZeroWorkspaceGivenBackZeroPasses) {
  JudgeBench bench;
  bench.plan_more = "[[workspace]]\nname = \"scratch\"\nbytes = \"64\"\nzero = true\n";
  bool was_zero = true;
  bench.candidate().run = [&was_zero](FakeLaunch& launch) {
    char* scratch = launch.Address("scratch");
    was_zero &= std::all_of(scratch, scratch + 64, [](char c) { return c == 0; });
    std::memset(scratch, 7, 64);
    Scale(launch);
    std::memset(scratch, 0, 64);
  };
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
  EXPECT_TRUE(was_zero);
}

TEST(JudgeHonest, AnInPlaceCandidateMeetsThePristineTensorAtEveryLaunch) {
  const Evaluation evaluation = JudgeBench(kAddTask).Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
}

TEST(JudgeHonest, TwoHundredSecretSeedsRefuseNone) {
  // The judgements are small, without timing. Each secret seed draws other hidden shapes and values.
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    JudgeBench bench;
    bench.options.time = false;
    bench.options.seed = seed;
    const Evaluation evaluation = bench.Run();
    ASSERT_EQ(evaluation.verdict, Verdict::kOk) << "seed " << seed << ": " << evaluation.detail;
  }
}

}  // namespace
}  // namespace hone
