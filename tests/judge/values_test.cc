// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the judge's values reach the branches of programs. Each kernel here is right for ordinary numbers. Each
// test shows that it passes if its gate is switched off and is refused if it is on.
#include "tests/judge/row_kernels.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tuner/evaluate/case_buffers.h"

namespace hone {
namespace {

bool Aligned(const FakeLaunch& launch, uint64_t bytes) { return launch.bindings().tensors.at("x").address % bytes == 0; }

// Judges one kernel over several seeds: it passes with the gate switched off by `off`, and is refused at least `least`
// times with the gate on.
template <typename MakeBench>
void ExpectOnlyTheGateSees(const MakeBench& make, const std::function<void(JudgeBench&)>& off, int least = 5) {
  int refused = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    RowBench without = make();
    without.options.seed = seed;
    without.options.max_quads = 10;
    without.options.warm = false;
    off(without);
    const Evaluation passed = without.Run();
    EXPECT_EQ(passed.verdict, Verdict::kOk) << "seed " << seed << ": " << passed.detail;
    RowBench with = make();
    with.options = without.options;
    const Evaluation evaluation = with.Run();
    refused += evaluation.verdict == Verdict::kWrongOutput;
  }
  EXPECT_GE(refused, least);
}
const auto kNoSpecial = [](JudgeBench& bench) { bench.gates.special_values = false; };
const auto kNoTimedStress = [](JudgeBench& bench) { bench.gates.stress_when_timed = false; };

// --- honest kernels meet all of it ---

TEST(SpecialValues, HonestKernelsPassUnderManySeeds) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    RowBench softmax = SoftmaxBench(), rmsnorm = RmsNormBench(), gelu = GeluBench();
    for (RowBench* bench : {&softmax, &rmsnorm, &gelu}) {
      bench->options.seed = seed;
      bench->options.max_quads = 10;
      const Evaluation evaluation = bench->Run();
      EXPECT_EQ(evaluation.verdict, Verdict::kOk) << "seed " << seed << ": " << evaluation.detail;
    }
  }
}

TEST(SpecialValues, AGeluByTanhPassesThoughItCancels) {
  RowBench bench = GeluBench([](double at) {
    const auto x = static_cast<float>(at);
    return 0.5f * x * (1.0f + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
  });
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
}

TEST(SpecialValues, ASoftmaxFromAFiniteLowestNumberPasses) {
  // The difference of two lowest finite numbers is 0 and not NaN, which is why running maxima begin with them.
  RowBench bench = SoftmaxBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
    float largest = std::numeric_limits<float>::lowest(), sum = 0;
    for (int64_t i = b; i < e; ++i) {
      const auto x = static_cast<float>(l.Read("x", i));
      if (x > largest) {
        sum *= std::exp(largest - x);
        largest = x;
      }
      sum += std::exp(x - largest);
    }
    for (int64_t i = b; i < e; ++i) l.Write(out, i, std::exp(static_cast<float>(l.Read("x", i)) - largest) * (1 / sum));
  }));
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
}

// --- special values ---

TEST(SpecialValues, AMaskedRowIsNotAnEvenOne) {
  ExpectOnlyTheGateSees([] {
    return SoftmaxBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      SoftmaxRow<float>(l, b, e, out);
      if (std::isinf(l.Read("x", b))) for (int64_t i = b; i < e; ++i) l.Write(out, i, 1.0 / static_cast<double>(e - b));
    }));
  }, kNoSpecial);
}

TEST(SpecialValues, AMaskAsALargeNegativeNumberIsSeen) {
  // In a masked row no element counts as less than the largest one minus nine, so a masked element has a small weight
  // instead of none.
  ExpectOnlyTheGateSees([] {
    return SoftmaxBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      float largest = -1e30f, sum = 0;
      const auto clipped = [&](int64_t i) { return std::max(static_cast<float>(l.Read("x", i)), largest - 9.0f); };
      bool masked = false;
      for (int64_t i = b; i < e; ++i) masked |= std::isinf(l.Read("x", i));
      if (!masked) return SoftmaxRow<float>(l, b, e, out);
      for (int64_t i = b; i < e; ++i) largest = std::max(largest, static_cast<float>(l.Read("x", i)));
      for (int64_t i = b; i < e; ++i) sum += std::exp(clipped(i) - largest);
      for (int64_t i = b; i < e; ++i) l.Write(out, i, std::exp(clipped(i) - largest) / sum);
    }));
  }, kNoSpecial);
}

TEST(SpecialValues, AnRmsNormWithoutEpsIsSeen) {
  ExpectOnlyTheGateSees([] {
    return RmsNormBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      double largest = 0;
      for (int64_t i = b; i < e; ++i) largest = std::max(largest, std::fabs(l.Read("x", i)));
      // The ordinary values contain rows of zeros already, where 0 / 0 would show.
      RmsNormRow<float>(l, b, e, out, largest == 0 ? 1e-5 : largest > 0.05 ? 1e-5 : 0.0);
    }));
  }, kNoSpecial);
}

TEST(SpecialValues, InfinityIsNotTheLargestNumber) {
  ExpectOnlyTheGateSees([] {
    return GeluBench([](double x) { return std::isinf(x) ? std::numeric_limits<float>::max() : Gelu<float>(x); });
  }, kNoSpecial);
}

TEST(SpecialValues, RowsOfSmallNumbersAreNotZero) {
  ExpectOnlyTheGateSees([] {
    return GeluBench([](double x) { return std::fabs(x) < 1e-5 && x != 0 ? 0.0f : Gelu<float>(x); });
  }, [](JudgeBench& bench) {
    bench.gates.special_values = false;
    bench.task.tolerance.at("out").c_small = 0;
  });
}

TEST(SpecialValues, ValuesThatATaskDoesNotCoverAreNotDrawn) {
  RowBench bench = SoftmaxBench();
  bool infinite = false, nan = false;
  const auto honest = bench.candidate().run;
  bench.candidate().run = [&, honest](FakeLaunch& launch) {
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      infinite |= launch.Read("x", i) == std::numeric_limits<double>::infinity();
      nan |= std::isnan(launch.Read("x", i));
    }
    honest(launch);
  };
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
  EXPECT_FALSE(infinite || nan);
}

TEST(SpecialValues, ValuesThatATaskCoversAreDrawn) {
  RowBench bench = GeluBench();
  bench.task.tensors[0].values.special = kSpecialInf | kSpecialMinusInf | kSpecialNan | kSpecialSubnormal;
  bool seen[5] = {};
  const auto honest = bench.candidate().run;
  bench.candidate().run = [&, honest](FakeLaunch& launch) {
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      const double x = launch.Read("x", i);
      seen[0] |= std::isinf(x) && x > 0;
      seen[1] |= std::isinf(x) && x < 0;
      seen[2] |= std::isnan(x);
      seen[3] |= x != 0 && std::fabs(x) < 0x1p-126;
      seen[4] |= x == 0 && std::signbit(x);
    }
    honest(launch);
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  for (const bool one : seen) EXPECT_TRUE(one);
}

// --- stress values at timed shapes ---

bool TimedShape(const FakeLaunch& launch) { return launch.Extent("x", 0) == 96 && launch.Extent("x", 1) == 32; }

TEST(StressWhenTimed, ASoftmaxWithoutAMaximumAtTheTimedShapeIsSeen) {
  ExpectOnlyTheGateSees([] {
    return SoftmaxBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      SoftmaxRow<float>(l, b, e, out, !TimedShape(l));
    }));
  }, kNoTimedStress);
}

TEST(StressWhenTimed, ASoftmaxWithoutAMaximumOnAlignedRowsIsSeen) {
  ExpectOnlyTheGateSees([] {
    return SoftmaxBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      SoftmaxRow<float>(l, b, e, out, !(TimedShape(l) && Aligned(l, 256)));
    }));
  }, kNoTimedStress);
}

TEST(StressWhenTimed, AnRmsNormWithoutEpsAtTheTimedShapeIsSeen) {
  ExpectOnlyTheGateSees([] {
    return RmsNormBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      RmsNormRow<float>(l, b, e, out, TimedShape(l) ? 0.0 : 1e-5);
    }));
  }, kNoTimedStress);
}

TEST(StressWhenTimed, AGeluThatSaturatesAtTheTimedShapeIsSeen) {
  const auto make = [] {
    RowBench bench = GeluBench();
    bench.candidate().run = ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      for (int64_t i = b; i < e; ++i) {
        const double x = l.Read("x", i);
        const bool far_out = TimedShape(l) && std::fabs(x) > 6.5;  // the normal values of these inputs are never so far
                                                                   // from 0
        l.Write(out, i, far_out ? (x > 0 ? 6.5 : 0.0) : static_cast<double>(Gelu<float>(x)));
      }
    });
    return bench;
  };
  ExpectOnlyTheGateSees(make, kNoTimedStress);
}

// --- both alignments in check cases ---

TEST(BothAlignments, AKernelThatIsWrongOnWellAlignedBasesIsSeen) {
  const auto make = [] {
    RowBench bench = SoftmaxBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      SoftmaxRow<float>(l, b, e, out, !Aligned(l, 64));
    }));
    bench.options.time = false;
    return bench;
  };
  ExpectOnlyTheGateSees(make, [](JudgeBench& bench) { bench.gates.both_alignments = false; });
}

TEST(BothAlignments, EachOccursInEveryVerdict) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    RowBench bench = SoftmaxBench();
    bench.options.seed = seed;
    bench.options.time = false;
    int64_t exact = 0, better = 0;
    const auto honest = bench.candidate().run;
    bench.candidate().run = [&, honest](FakeLaunch& launch) {
      (Aligned(launch, 256) ? better : exact) += 1;
      EXPECT_TRUE(Aligned(launch, 256) || !Aligned(launch, 32));
      honest(launch);
    };
    EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
    EXPECT_GT(exact, 0);
    EXPECT_GT(better, 0);
  }
}

// --- small elements ---

TEST(SmallElements, ASoftmaxThatLeavesSmallResultsOutIsSeen) {
  ExpectOnlyTheGateSees([] {
    return SoftmaxBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      SoftmaxRow<float>(l, b, e, out);
      double largest = 0;
      for (int64_t i = b; i < e; ++i) largest = std::max(largest, l.Read("out", i));
      for (int64_t i = b; i < e; ++i) if (l.Read("out", i) < 2e-6 * largest) l.Write(out, i, 0);
    }));
  }, [](JudgeBench& bench) { bench.task.tolerance.at("out").c_small = 0; });
}

TEST(SmallElements, AnRmsNormThatSkipsSmallInputsIsSeen) {
  ExpectOnlyTheGateSees([] {
    return RmsNormBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      RmsNormRow<float>(l, b, e, out);
      // the rms of the row is 1 or less
      for (int64_t i = b; i < e; ++i) if (std::fabs(l.Read("out", i)) < 3e-4) l.Write(out, i, 0);
      // the kernel is right where the rms may be less
      if (std::fabs(l.Read("x", b)) < 0.05) RmsNormRow<float>(l, b, e, out);
    }));
  }, [](JudgeBench& bench) { bench.task.tolerance.at("out").c_small = 0; });
}

TEST(SmallElements, AGeluThatAnswersZeroBelowMinusFourIsSeen) {
  // gelu(-4.6) is about -1e-5, far below c_max times the rms of the row.
  ExpectOnlyTheGateSees([] {
    return GeluBench([](double x) { return x < -4.6 ? 0.0f : Gelu<float>(x); });
  }, [](JudgeBench& bench) { bench.task.tolerance.at("out").c_small = 0; }, 3);  // few values are that small
}

TEST(SmallElements, ASoftmaxWhoseSmallResultsAreRoundedOffIsSeen) {
  ExpectOnlyTheGateSees([] {
    return SoftmaxBench(ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) {
      SoftmaxRow<float>(l, b, e, out);
      for (int64_t i = b; i < e; ++i) {
        const double y = l.Read("out", i);
        if (y < 3e-6 && y > 1e-30) l.Write(out, i, std::ldexp(1.0, static_cast<int>(std::lround(std::log2(y)))));
      }
    }));
  }, [](JudgeBench& bench) { bench.task.tolerance.at("out").c_small = 0; });
}

TEST(SmallElements, TheVerdictSaysWhatWasOff) {
  Evaluation evaluation;
  // few values are that small
  for (uint64_t seed = 1; seed <= 8 && evaluation.verdict != Verdict::kWrongOutput; ++seed) {
    RowBench bench = GeluBench([](double x) { return x < -4.6 ? 0.0f : Gelu<float>(x); });
    bench.options.seed = seed;
    evaluation = bench.Run();
  }
  ASSERT_EQ(evaluation.verdict, Verdict::kWrongOutput);
  EXPECT_NE(evaluation.detail.find("far smaller than its neighbors"), std::string::npos) << evaluation.detail;
}

// --- hand-worked cases ---

TEST(HandCases, AreForCandidatesUnlessTheTaskSaysOtherwise) {
  const std::string hand = "[[hand]]\ndims = { rows = 1, cols = 1 }\ninputs.x = [1234.5]\noutputs.out = [1.0]\n";
  for (const bool candidates : {true, false}) {
    RowBench bench(TaskOfRows("values = { distribution = \"normal\", scale = 3.0 }\nspecial = [\"-inf\"]",
                           "c_max = 3e-5\nc_rms = 1e-5", hand + (candidates ? "" : "candidates = false\n")),
                   SoftmaxBench().oracle().run, SoftmaxBench().candidate().run);
    bench.options.time = false;
    const auto honest = bench.candidate().run;
    bench.candidate().run = [honest](FakeLaunch& launch) {
      honest(launch);
      if (launch.Elements("x") == 1 && launch.Read("x", 0) == 1234.5) launch.Write("out", 0, 0.5);
    };
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, candidates ? Verdict::kWrongOutput : Verdict::kOk) << evaluation.detail;
  }
}

// --- a case's own values ---

TEST(CaseValues, AKernelThatIsWrongOnThemAloneIsFound) {
  // These values occur in no ordinary input, but a case may name them.
  const auto strays = [](FakeLaunch& launch) {
    Scale(launch);
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      if (launch.Read("x", i) > 5000 && launch.Read("x", i) < 5001) launch.Write("out", i, 0);
    }
  };
  for (const bool named : {false, true}) {
    std::string toml(kScaleTask);
    if (named) {
      const std::string dims = "dims = { rows = 40, cols = 33 }\n";
      toml.insert(toml.find(dims) + dims.size(), "values.x = { distribution = \"uniform\", low = 5000, high = 5001 }\n");
    }
    JudgeBench bench(toml);
    bench.options.time = false;
    bench.candidate() = {.run = strays};
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, named ? Verdict::kWrongOutput : Verdict::kOk) << evaluation.detail;
    if (named) {
      EXPECT_EQ(evaluation.mismatch->distribution, "the case's own");
      EXPECT_EQ(evaluation.mismatch->dims.at("cols"), 33);
    }
  }
  std::string toml(kScaleTask);
  const std::string dims = "dims = { rows = 40, cols = 33 }\n";
  toml.insert(toml.find(dims) + dims.size(), "values.x = { distribution = \"uniform\", low = 5000, high = 5001 }\n");
  JudgeBench honest(toml);
  honest.options.time = false;
  EXPECT_EQ(honest.Run().verdict, Verdict::kOk);
}

// --- indices ---

// Counts in out[r] how often the value x[r][0] occurs in its row.
constexpr std::string_view kCountTask = R"(
name = "count"
summary = "how often the first value of a row comes up in it"
class = "graph"
slice = "rows"
[dims]
rows = "rows"
cols = "columns"
[[tensor]]
name = "x"
role = "in"
dtype = "int32"
shape = ["rows", "cols"]
values = { distribution = "index", bound = "4096" }
[[tensor]]
name = "sum"
role = "out"
dtype = "float32"
shape = ["rows"]
[tolerance.sum]
c_max = 1e-6
c_rms = 3e-7
[[case]]
role = "time"
dims = { rows = 64, cols = 48 }
[[case]]
role = "check"
dims = { rows = 3, cols = 40 }
[[hidden]]
count = 1
rows = { low = 1, high = 60 }
cols = { low = 20, high = 60 }
)";

std::function<void(FakeLaunch&)> Count(const std::string& out, double most) {
  return [out, most](FakeLaunch& launch) {
    const int64_t rows = launch.Extent("x", 0), cols = launch.Extent("x", 1);
    for (int64_t r = 0; r < rows; ++r) {
      double count = 0;
      for (int64_t c = 0; c < cols; ++c) count += launch.Read("x", r * cols + c) == launch.Read("x", r * cols) ? 1 : 0;
      launch.Write(out, r, std::min(count, most));
    }
  };
}

// A counter of few bits is right for indices that are spread evenly, but not for real data.
TEST(IndexStress, CountersThatOverflowWhereIndicesCrowdAreRefused) {
  for (const bool stress : {true, false}) {
    std::string toml(kCountTask);
    if (!stress) toml.insert(toml.find("values = {"), "stress = false\n");
    for (const double most : {1e9, 15.0}) {
      JudgeBench bench(toml);
      bench.device.kernels["candidate"] = bench.device.kernels["incumbent"] = bench.device.kernels["seed"] = {.run = Count("sum", most)};
      bench.device.kernels["incumbent"] = {.run = Count("sum", 1e9)};
      bench.device.kernels["oracle"] = {.run = Count("ref:sum", 1e9)};
      bench.args = R"("x", "sum")";
      bench.oracle_args = R"("x", "ref:sum")";
      bench.options.max_quads = 10;
      bench.options.warm = false;
      const Evaluation evaluation = bench.Run();
      const bool caught = stress && most < 1e9;
      EXPECT_EQ(evaluation.verdict, caught ? Verdict::kWrongOutput : Verdict::kOk) << stress << " " << most << ": " << evaluation.detail;
    }
  }
}

// Tells how many numbers each row of a CSR structure has.
constexpr std::string_view kRowSumTask = R"(
name = "row_sum"
summary = "out[r] = how many numbers row r has"
class = "graph"
slice = "width"
[dims]
rows = "rows"
numbers = "numbers of all rows together"
width = "copies of each result"
[[tensor]]
name = "starts"
role = "in"
dtype = "int32"
shape = ["rows + 1"]
values = { distribution = "offsets", bound = "numbers" }
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["width"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["width", "rows"]
[tolerance.out]
c_max = 1e-6
c_rms = 3e-7
[[case]]
role = "time"
dims = { rows = 64, numbers = 640, width = 64 }
[[case]]
role = "check"
dims = { rows = 3, numbers = 40, width = 2 }
[[hidden]]
count = 1
rows = { low = 1, high = 60 }
numbers = { low = 20, high = 600 }
width = { low = 1, high = 4 }
)";

std::function<void(FakeLaunch&)> RowLengths(const std::string& out, double share) {
  return [out, share](FakeLaunch& launch) {
    const int64_t rows = launch.Extent("starts", 0) - 1, width = launch.Extent("x", 0);
    const double numbers = launch.Read("starts", rows);
    for (int64_t w = 0; w < width; ++w) {
      for (int64_t r = 0; r < rows; ++r) {
        const double length = launch.Read("starts", r + 1) - launch.Read("starts", r);
        // a row of a few numbers is never cut off
        launch.Write(out, w * rows + r, launch.Read("x", w) * std::min(length, std::max(share * numbers, 100.0)));
      }
    }
  };
}

// A buffer for the longest row of usual inputs (a "capacity") is too small where one row has most numbers.
TEST(OffsetStress, RowsThatAreCutOffWhereOneRowHasMostNumbersAreRefused) {
  for (const bool stress : {true, false}) {
    std::string toml(kRowSumTask);
    if (!stress) toml.insert(toml.find("values = {"), "stress = false\n");
    for (const double share : {1.0, 0.4}) {
      JudgeBench bench(toml);
      bench.device.kernels["candidate"] = {.run = RowLengths("out", share)};
      bench.device.kernels["incumbent"] = bench.device.kernels["seed"] = {.run = RowLengths("out", 1.0)};
      bench.device.kernels["oracle"] = {.run = RowLengths("ref:out", 1.0)};
      bench.args = R"("starts", "x", "out")";
      bench.oracle_args = R"("starts", "x", "ref:out")";
      bench.options.max_quads = 10;
      bench.options.warm = false;
      const Evaluation evaluation = bench.Run();
      const bool caught = stress && share < 1;
      EXPECT_EQ(evaluation.verdict, caught ? Verdict::kWrongOutput : Verdict::kOk) << stress << " " << share << ": " << evaluation.detail;
    }
  }
}

// --- powers of two ---

// Draws 8192 scales of blocks, a tensor with these fields in its task, and returns their bytes.
std::vector<int> PowerBytes(const std::string& fields, const InputSet& inputs) {
  const Task task = std::move(ParseTask("name = \"t\"\nsummary = \"s\"\nclass = \"other\"\nspecial = [\"inf\", \"subnormal\"]\n[dims]\nn = \"size\"\n"
                                        "[[tensor]]\nname = \"x\"\nrole = \"in\"\ndtype = \"float8_e8m0fnu\"\nshape = [\"n\"]\n" + fields +
                                        "\n[[tensor]]\nname = \"y\"\nrole = \"out\"\ndtype = \"float32\"\nshape = [\"n\"]\n"
                                        "[tolerance.y]\nc_max = 0\nc_rms = 0\n[[case]]\nrole = \"check\"\ndims = { n = 8192 }\n", "t")).value();
  FakeSession session{FakeDevice()};
  const auto buffers = std::move(CaseBuffers::Make(session, task, {{"n", 8192}}, {}, 1, true, 5)).value();
  EXPECT_TRUE(buffers->DrawInputs(0, inputs).ok());
  const auto* const first = reinterpret_cast<const unsigned char*>(buffers->set(0).tensors.at("x").address);
  return {first, first + 8192};
}
std::vector<int> StressedBytes(const std::string& fields, Distribution stress, uint64_t key = 77) {
  return PowerBytes(fields, {.key = key, .stress = stress, .use_stress = true});
}

// A kernel that keeps five bits of a scale's eight is right for usual ones.
TEST(PowerStress, ReachesAllPowersOfTheFormatUnlessTheTaskGivesARange) {
  using testing::Each;
  const std::vector<int> usual = PowerBytes("", {.key = 77});
  EXPECT_THAT(usual, Each(testing::AllOf(testing::Ge(119), testing::Lt(135))));
  for (const Distribution stress : {Distribution::kSpecial, Distribution::kHeavyTailed, Distribution::kSorted}) {
    const std::vector<int> drawn = StressedBytes("", stress);
    EXPECT_EQ(std::set<int>(drawn.begin(), drawn.end()).size(), 255u) << DistributionName(stress);  // 0 to 254
    EXPECT_THAT(drawn, Each(testing::Le(254)));
  }
  EXPECT_THAT(StressedBytes("", Distribution::kZero), Each(0));
  const std::vector<int> one = StressedBytes("", Distribution::kConstant), another = StressedBytes("", Distribution::kConstant, 78);
  EXPECT_THAT(one, Each(one[0]));
  EXPECT_THAT(another, Each(another[0]));
  EXPECT_NE(one[0], another[0]);

  const std::string range = "values = { distribution = \"log_uniform\", low = 0.25, high = 8 }";
  for (const Distribution stress : {Distribution::kSpecial, Distribution::kHeavyTailed, Distribution::kSorted, Distribution::kCancelling}) {
    const std::vector<int> drawn = StressedBytes(range, stress);
    EXPECT_EQ(std::set<int>(drawn.begin(), drawn.end()), (std::set<int>{125, 126, 127, 128, 129})) << DistributionName(stress);
  }
  EXPECT_THAT(StressedBytes(range, Distribution::kZero), Each(125));
  EXPECT_THAT(StressedBytes("stress = false", Distribution::kSpecial), Each(testing::AllOf(testing::Ge(119), testing::Lt(135))));
}

TEST(PowerStress, HoldsNanOnlyWhereTheTaskCoversIt) {
  const auto nans = [](const std::vector<int>& bytes) { return std::count(bytes.begin(), bytes.end(), 255); };
  EXPECT_NEAR(static_cast<double>(nans(StressedBytes("special = [\"nan\"]", Distribution::kSpecial))), 128.0, 50.0);
  EXPECT_EQ(nans(StressedBytes("special = [\"nan\"]", Distribution::kHeavyTailed)), 0);
  EXPECT_EQ(nans(PowerBytes("special = [\"nan\"]", {.key = 77})), 0);
  EXPECT_EQ(nans(StressedBytes("", Distribution::kSpecial)), 0);
}

}  // namespace
}  // namespace hone
