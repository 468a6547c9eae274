// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that timed launches are checked like any other, and that a kernel gains nothing by telling launches apart. Each
// cheat passes if its gate is switched off, and is refused or gains nothing if it is on.
#include <cstring>
#include <map>
#include <set>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

// A number of launches after which all further ones are timed (timed_rules_test.cc).
constexpr int64_t kAfterTheChecks = 60;

// Expects that the cheat passes with its gate switched off by `off`, and gets `verdict` with the gate on.
void ExpectSeenByTheGateAlone(const std::function<void(JudgeBench&)>& cheat, const std::function<void(JudgeBench&)>& off,
                           std::string_view toml = kScaleTask, Verdict verdict = Verdict::kWrongOutput) {
  JudgeBench without(toml);
  cheat(without);
  off(without);
  const Evaluation passed = without.Run();
  EXPECT_EQ(passed.verdict, Verdict::kOk) << passed.detail;
  JudgeBench with(toml);
  cheat(with);
  const Evaluation evaluation = with.Run();
  EXPECT_EQ(evaluation.verdict, verdict) << evaluation.detail;
}

// --- both tolerances in timed launches ---

// Scales with an error below c_max (1e-6) and above c_rms (3e-7), like a kernel of lower precision.
void ScaleRoughly(FakeLaunch& launch) {
  const int64_t cols = launch.Extent("x", 1);
  for (int64_t i = 0; i < launch.Elements("x"); ++i) {
    launch.Write("out", i, launch.Read("x", i) * launch.Read("w", i % cols) * (1 + 7e-7 * (i % 2 == 0 ? 1 : -1)));
  }
}
const auto kNoTimedRms = [](JudgeBench& bench) { bench.gates.timed_rms = false; };

TEST(TimedTolerances, LowerPrecisionByLaunchNumberIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.candidate().run = [](FakeLaunch& launch) { launch.execution() > kAfterTheChecks ? ScaleRoughly(launch) : Scale(launch); };
  }, kNoTimedRms);
}

TEST(TimedTolerances, LowerPrecisionNowAndThenIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.candidate().run = [](FakeLaunch& launch) {
      launch.execution() > kAfterTheChecks && launch.execution() % 9 == 0 ? ScaleRoughly(launch) : Scale(launch);
    };
  }, kNoTimedRms);
}

TEST(TimedTolerances, LowerPrecisionByAddressIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.candidate().microseconds = bench.incumbent().microseconds = Costs(40);
    bench.candidate().run = [&bench, addresses = std::make_shared<std::set<const char*>>()](FakeLaunch& launch) {
      if (bench.session->timed_samples() <= 3) addresses->insert(launch.Address("x"));
      addresses->contains(launch.Address("x")) ? Scale(launch) : ScaleRoughly(launch);
    };
  }, kNoTimedRms);
}

TEST(TimedTolerances, LowerPrecisionInWarmCachesIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    auto warm = std::make_shared<bool>(false);
    bench.candidate().microseconds = [warm](const FakeTiming& timing) {
      *warm = timing.cache == CacheState::kWarm;
      return 100.0;
    };
    bench.candidate().run = [warm](FakeLaunch& launch) { *warm ? ScaleRoughly(launch) : Scale(launch); };
  }, kNoTimedRms);
}

TEST(TimedTolerances, LowerPrecisionWhereOutputsAreNotSlicedIsSeen) {
  std::string toml(kAddTask);
  const std::string slice = "slice = \"rows\"\n";
  toml.erase(toml.find(slice), slice.size());
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.candidate().run = [](FakeLaunch& launch) {
      const double off = launch.execution() > kAfterTheChecks ? 7e-7 : 0;
      for (int64_t i = 0; i < launch.Elements("x"); ++i) {
        launch.Write("sum", i, (launch.Read("sum", i) + launch.Read("x", i)) * (1 + off));
      }
    };
  }, kNoTimedRms, toml);
}

// Each row has one result, which may cancel to almost nothing. The mean square of a few such results does not show a
// kernel's precision.
TEST(TimedTolerances, AResultThatCancelsIsNotRefused) {
  const std::string_view task = R"(
name = "row_sums"
summary = "out = sum of each row"
class = "reduction"
slice = "rows"
[dims]
rows = "rows"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "40"]
stress = false
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["rows"]
[tolerance.out]
c_max = 1e-2
c_rms = 3e-6
[[case]]
role = "time"
dims = { rows = 128 }
[[case]]
role = "check"
dims = { rows = 100 }
)";
  const auto sums = [](const std::string& out, bool in_float) {
    return [out, in_float](FakeLaunch& launch) {
      for (int64_t row = 0; row < launch.Extent("x", 0); ++row) {
        double sum = 0;
        float rough = 0;
        for (int64_t i = row * 40; i < row * 40 + 40; ++i) {
          sum += launch.Read("x", i);
          rough += static_cast<float>(launch.Read("x", i));
        }
        launch.Write(out, row, in_float ? static_cast<double>(rough) : sum);
      }
    };
  };
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    JudgeBench bench(task);
    bench.options.seed = seed;
    bench.oracle() = {.run = sums("ref:out", false)};
    bench.candidate() = bench.incumbent() = bench.device.kernels["seed"] = {.run = sums("out", true)};
    bench.args = R"("x", "out")";
    bench.oracle_args = R"("x", "ref:out")";
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, Verdict::kOk) << "seed " << seed << ": " << evaluation.detail;
  }
}

// --- no launch goes unobserved ---

// Returns the number of the session's current timed sample, from 1. The first three are the candidate's rough times.
int64_t SampleNumber(const JudgeBench& bench) { return bench.session->timed_samples(); }
bool Rough(const JudgeBench& bench) { return SampleNumber(bench) >= 1 && SampleNumber(bench) <= 3; }
// Makes launches so long that a sample has one buffer set: no base input is verified after the rough times.
void LongLaunches(JudgeBench& bench) { bench.candidate().microseconds = bench.incumbent().microseconds = Costs(1000); }
const auto kNoRoughTimes = [](JudgeBench& bench) { bench.gates.rough_times = false; };

TEST(RoughTimes, ALaunchThatDoesNothingIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    LongLaunches(bench);
    bench.candidate().run = [&bench](FakeLaunch& launch) { if (!Rough(bench)) Scale(launch); };
  }, kNoRoughTimes);
}

TEST(RoughTimes, LowerPrecisionIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    LongLaunches(bench);
    bench.candidate().run = [&bench](FakeLaunch& launch) { Rough(bench) ? ScaleRoughly(launch) : Scale(launch); };
  }, kNoRoughTimes);
}

TEST(RoughTimes, AGlobalLeftChangedIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    LongLaunches(bench);
    bench.candidate().run = [&bench](FakeLaunch& launch) {
      Scale(launch);
      if (Rough(bench)) launch.Global("seen") = 1;
    };
  }, kNoRoughTimes, kScaleTask, Verdict::kRuleViolation);
}

TEST(RoughTimes, AZeroWorkspaceLeftDirtyIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.plan_more = "[[workspace]]\nname = \"scratch\"\nbytes = \"64\"\nzero = true\n";
    bench.candidate().run = [&bench](FakeLaunch& launch) {
      Scale(launch);
      if (SampleNumber(bench) == 1) launch.Address("scratch")[5] = 1;
    };
  }, kNoRoughTimes, kScaleTask, Verdict::kRuleViolation);
}

// --- sets of one sample share no slice ---

// Remembers the results of this sample, and looks rows up before it computes them: right, and fast if rows occur again.
// Its cost is the share of rows that it had to compute.
struct RowCache {
  int64_t sample = -1;
  std::map<std::vector<double>, std::vector<double>> rows;
  double computed = 1;
};

void UseCache(JudgeBench& bench, const std::function<std::vector<double>(FakeLaunch&, int64_t)>& key_of, const std::string& out) {
  auto cache = std::make_shared<RowCache>();
  const auto honest = bench.candidate().run;
  bench.incumbent().microseconds = Costs(20);
  bench.device.facts.memory_bandwidth = 1e10;  // otherwise some of these times would be refused as impossible
  bench.candidate().microseconds = [cache](const FakeTiming&) { return 2 + 18 * cache->computed; };
  bench.candidate().run = [&bench, cache, honest, key_of, out](FakeLaunch& launch) {
    if (SampleNumber(bench) != cache->sample) {
      cache->sample = SampleNumber(bench);
      cache->rows.clear();
    }
    const int64_t rows = launch.Extent("x", 0), cols = launch.Extent("x", 1);
    std::vector<std::vector<double>> keys;
    std::vector<const std::vector<double>*> known;
    int64_t missing = 0;
    for (int64_t row = 0; row < rows; ++row) {
      keys.push_back(key_of(launch, row));
      const auto found = cache->rows.find(keys.back());
      known.push_back(found == cache->rows.end() ? nullptr : &found->second);
      missing += known.back() == nullptr;
    }
    honest(launch);  // computes the missing rows; the remembered results replace the others
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<double> result;
      for (int64_t i = row * cols; i < (row + 1) * cols; ++i) {
        if (known[static_cast<size_t>(row)] != nullptr) {
          launch.Write(out, i, (*known[static_cast<size_t>(row)])[static_cast<size_t>(i - row * cols)]);
        }
        result.push_back(launch.Read(out, i));
      }
      if (known[static_cast<size_t>(row)] == nullptr) cache->rows[keys[static_cast<size_t>(row)]] = result;
    }
    cache->computed = rows == 0 ? 1.0 : static_cast<double>(missing) / static_cast<double>(rows);
  };
}

// Expects that the cheat gains nothing: without the rows that it finds again, the candidate is as fast as the
// incumbent.
void ExpectNoGainFromOtherSets(const std::function<void(JudgeBench&)>& cheat, std::string_view toml = kScaleTask) {
  for (const bool gate : {false, true}) {
    JudgeBench bench(toml);
    bench.gates.bases_of_their_own = gate;
    bench.options.warm = false;
    cheat(bench);
    const Evaluation evaluation = bench.Run();
    ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
    ASSERT_GT(Timed(evaluation)->timing.plans_per_sample, 1);
    if (gate) {
      EXPECT_NE(Timed(evaluation)->timing.decision, "faster");
      EXPECT_NEAR(Timed(evaluation)->speedup->median, 1, 0.01);
    } else {
      EXPECT_EQ(Timed(evaluation)->timing.decision, "faster");
      EXPECT_GT(Timed(evaluation)->speedup->median, 2);
    }
  }
}

TEST(BasesOfTheirOwn, RowsOfAnEarlierExecutionAreNoAnswer) {
  ExpectNoGainFromOtherSets([](JudgeBench& bench) {
    UseCache(bench, [](FakeLaunch& launch, int64_t row) {
      std::vector<double> key;
      const int64_t cols = launch.Extent("x", 1);
      for (int64_t i = 0; i < cols; ++i) key.push_back(launch.Read("x", row * cols + i));
      for (int64_t i = 0; i < cols; ++i) key.push_back(launch.Read("w", i));
      return key;
    }, "out");
  });
}

TEST(BasesOfTheirOwn, RowsToldByTheirFirstTwoElementsAreNoAnswer) {
  ExpectNoGainFromOtherSets([](JudgeBench& bench) {
    bench.options.check_cases = false;  // check cases have rows that differ although their first two elements are equal
    bench.options.correctness_trials = 1;
    UseCache(bench, [](FakeLaunch& launch, int64_t row) {
      const int64_t cols = launch.Extent("x", 1);
      if (cols < 2) return std::vector<double>{static_cast<double>(row)};
      return std::vector<double>{launch.Read("x", row * cols), launch.Read("x", row * cols + 1), launch.Read("w", 0)};
    }, "out");
  });
}

TEST(BasesOfTheirOwn, RowsUpdatedInPlaceAreNoAnswer) {
  ExpectNoGainFromOtherSets([](JudgeBench& bench) {
    UseCache(bench, [](FakeLaunch& launch, int64_t row) {
      std::vector<double> key;
      const int64_t cols = launch.Extent("x", 1);
      for (int64_t i = row * cols; i < (row + 1) * cols; ++i) {
        key.push_back(launch.Read("x", i));
        key.push_back(launch.Read("sum", i));
      }
      return key;
    }, "sum");
  }, kAddTask);
}

TEST(BasesOfTheirOwn, WholeOutputsAreNoAnswer) {
  std::string toml(kAddTask);
  const std::string slice = "slice = \"rows\"\n";
  toml.erase(toml.find(slice), slice.size());
  ExpectNoGainFromOtherSets([](JudgeBench& bench) {
    UseCache(bench, [](FakeLaunch& launch, int64_t row) {
      std::vector<double> key{static_cast<double>(row)};
      for (int64_t i = 0; i < launch.Elements("x"); ++i) key.push_back(launch.Read("x", i));
      return key;
    }, "sum");
  }, toml);
}

TEST(BasesOfTheirOwn, NoTwoSetsOfASampleHoldOneRow) {
  JudgeBench bench;
  bench.options.warm = false;
  bench.candidate().microseconds = bench.incumbent().microseconds = Costs(40);
  int64_t sample = -1, twice = 0;
  std::set<std::vector<double>> rows;
  bench.candidate().run = [&](FakeLaunch& launch) {
    Scale(launch);
    if (SampleNumber(bench) < 4) return;
    if (SampleNumber(bench) != sample) rows.clear();
    sample = SampleNumber(bench);
    const int64_t cols = launch.Extent("x", 1);
    for (int64_t row = 0; row < launch.Extent("x", 0); ++row) {
      std::vector<double> values;
      for (int64_t i = 0; i < cols; ++i) values.push_back(launch.Read("x", row * cols + i));
      twice += !rows.insert(values).second;
    }
  };
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
  EXPECT_EQ(twice, 0);
}

// Without slices, a buffer set whose bits are not the verified ones is judged as a whole, and one set of a sample has
// values that no launch has seen.
TEST(UnslicedOutputs, AnExecutionLeftOutOfManyIsSeen) {
  std::string toml(kAddTask);
  const std::string slice = "slice = \"rows\"\n";
  toml.erase(toml.find(slice), slice.size());
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    JudgeBench bench(toml);
    bench.options.seed = seed;
    bench.candidate().microseconds = bench.incumbent().microseconds = Costs(20);
    bench.candidate().run = [](FakeLaunch& launch) {
      if (launch.execution() > 100 && launch.execution() % 97 == 0) return;
      for (int64_t i = 0; i < launch.Elements("x"); ++i) launch.Write("sum", i, launch.Read("sum", i) + launch.Read("x", i));
    };
    EXPECT_EQ(bench.Run().verdict, Verdict::kWrongOutput) << "seed " << seed;
  }
}

TEST(UnslicedOutputs, AnOrderOfAdditionThatChangesPasses) {
  std::string toml(kAddTask);
  const std::string slice = "slice = \"rows\"\n";
  toml.erase(toml.find(slice), slice.size());
  JudgeBench bench(toml);
  bench.candidate().microseconds = bench.incumbent().microseconds = Costs(20);
  bench.candidate().run = [random = std::make_shared<std::mt19937_64>(5)](FakeLaunch& launch) {
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      launch.Write("sum", i, (launch.Read("sum", i) + launch.Read("x", i)) * (1 + ((*random)() % 3 == 0 ? 0x1p-23 : 0.0)));
    }
  };
  EXPECT_EQ(bench.Run().verdict, Verdict::kOk);
}

// --- what memory holds before a launch ---

const auto kFixedFills = [](JudgeBench& bench) { bench.gates.changing_fills = false; };
constexpr const char* kScratch = "[[workspace]]\nname = \"scratch\"\nbytes = \"4 * rows * cols + 64\"\n";

float FloatAt(const char* memory, int64_t i) {
  float value;
  std::memcpy(&value, memory + 4 * i, 4);
  return value;
}

TEST(ChangingFills, AnAccumulatorThatIsNotZeroedIsSeen) {
  // 0xa5a5a5a5 as a float is -2.9e-16, which is as good as zero.
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.plan_more = kScratch;
    bench.candidate().run = [](FakeLaunch& launch) {
      Scale(launch);
      for (int64_t i = 0; i < launch.Elements("out"); ++i) {
        const double product = launch.Read("out", i);
        if (std::fabs(product) > 1e-6) launch.Write("out", i, static_cast<double>(FloatAt(launch.Address("scratch"), i)) + product);
      }
    };
  }, kFixedFills);
}

TEST(ChangingFills, AMaximumThatStartsFromWhatIsThereIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.plan_more = kScratch;
    bench.candidate().run = [](FakeLaunch& launch) {
      Scale(launch);
      for (int64_t i = 0; i < launch.Elements("out"); ++i) {
        const double product = launch.Read("out", i);
        if (product > 0) launch.Write("out", i, std::fmax(product, static_cast<double>(FloatAt(launch.Address("scratch"), i))));
      }
    };
  }, kFixedFills);
}

TEST(ChangingFills, AFlagThatTakesTheFixedByteForEmptyIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.plan_more = kScratch;
    bench.candidate().run = [](FakeLaunch& launch) {
      if (static_cast<unsigned char>(launch.Address("scratch")[0]) == 0xa5) Scale(launch);
    };
  }, kFixedFills);
}

TEST(ChangingFills, AnOutputThatIsAddedToWhereItIsNotNanIsSeen) {
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.candidate().run = [](FakeLaunch& launch) {
      const int64_t cols = launch.Extent("x", 1);
      for (int64_t i = 0; i < launch.Elements("x"); ++i) {
        const double before = launch.Read("out", i);
        launch.Write("out", i, (std::isnan(before) ? 0 : before) + launch.Read("x", i) * launch.Read("w", i % cols));
      }
    };
  }, kFixedFills);
}

TEST(ChangingFills, MemoryRecognisedByItsPoisonIsSeen) {
  // The kernel is right unless the output holds the one fixed pattern.
  ExpectSeenByTheGateAlone([](JudgeBench& bench) {
    bench.candidate().run = [](FakeLaunch& launch) {
      uint32_t bits = 0;
      if (launch.Elements("out") > 0) std::memcpy(&bits, launch.Address("out"), 4);
      if (bits == 0x7fa5b0b1u || launch.Elements("out") == 0) Scale(launch);
    };
  }, kFixedFills);
}

// Memory was once filled with the byte 0xa5, which is also an ordinary result.
TEST(ChangingFills, AnIntegerThatEqualsAFillWasWritten) {
  JudgeBench bench(R"(
name = "quantize"
summary = "out = x - 100"
class = "elementwise"
slice = "rows"
[dims]
rows = "rows"
[[tensor]]
name = "x"
role = "in"
dtype = "int32"
shape = ["rows", "64"]
values = { distribution = "index", bound = "200" }
[[tensor]]
name = "out"
role = "out"
dtype = "int8"
shape = ["rows", "64"]
[tolerance.out]
c_max = 0
c_rms = 1e-3
abs = 1
[[case]]
role = "time"
dims = { rows = 128 }
[[case]]
role = "check"
dims = { rows = 40 }
[[hidden]]
rows = { low = 20, high = 60 }
)");
  const auto shifted = [](const std::string& out) {
    return [out](FakeLaunch& launch) {
      for (int64_t i = 0; i < launch.Elements("x"); ++i) launch.Write(out, i, launch.Read("x", i) - 100);
    };
  };
  bench.oracle() = {.run = shifted("ref:out")};
  bench.incumbent() = bench.device.kernels["seed"] = {.run = shifted("out")};
  // The kernel rounds -92 the wrong way, to -91, which is the byte 0xa5.
  bench.candidate() = {.run = [](FakeLaunch& launch) {
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      const double right = launch.Read("x", i) - 100;
      launch.Write("out", i, right == -92 ? -91 : right);
    }
  }};
  bench.args = R"("x", "out")";
  bench.oracle_args = R"("x", "ref:out")";
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    bench.options.seed = seed;
    const Evaluation evaluation = bench.Run();
    EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  }
}

TEST(ChangingFills, WhatWasNotWrittenIsStillCalledThat) {
  JudgeBench bench;
  bench.candidate().run = [](FakeLaunch& launch) { ScaleRows(launch, 0, launch.Extent("x", 0) - 1); };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kWrongOutput) << evaluation.detail;
}

}  // namespace
}  // namespace hone
