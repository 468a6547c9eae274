// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that every cheat is caught with the verdict it deserves, and that no honest kernel is refused.
//
// Runs on the simulated GPU by default; HONE_TEST_DEVICE=cuda:0 judges the same files on a GPU. If the program was
// copied to another machine, HONE_TEST_SOURCE and HONE_TEST_BINARY name the source and build folders there. On the
// simulated GPU every entry has a secret seed of its own that stays the same from run to run, so that a new failure
// comes from a change; HONE_TEST_SEED=N draws others, and a GPU always does. HONE_TEST_TABLE names a file that gets one
// line of JSON for each entry: its verdict and its speed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "hone/tuner/evaluator.h"
#include "tests/candidate_corpus.h"

namespace hone {

// Names the entry in a failed test's message. Google Test finds a printer only in the type's own namespace.
void PrintTo(const CorpusEntry& entry, std::ostream* out) { *out << entry.name; }

namespace {

std::string TestDevice() {
  const char* device = std::getenv("HONE_TEST_DEVICE");
  return device == nullptr ? "sim" : device;
}

std::string Where(const char* variable, const char* built) {
  const char* place = std::getenv(variable);
  return place == nullptr ? built : place;
}
// Returns the entry's secret seed. Never 0, which would ask the evaluator to draw one.
uint64_t SeedOf(const std::string& name) {
  const char* drawn = std::getenv("HONE_TEST_SEED");
  uint64_t seed = 0xcbf29ce484222325ULL;
  for (const char c : name + "/" + (drawn == nullptr ? "" : drawn))
    seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return seed | 1;
}
std::string SourceDirectory() { return Where("HONE_TEST_SOURCE", HONE_SOURCE_DIR); }
std::string BinaryDirectory() { return Where("HONE_TEST_BINARY", HONE_BINARY_DIR); }

// Returns one evaluator per time limit for the whole program, so that a candidate which crashes or hangs must not spoil
// the next verdict.
Evaluator& SharedEvaluator(double launch_limit_seconds) {
  static std::map<double, std::unique_ptr<Evaluator>> evaluators;
  std::unique_ptr<Evaluator>& evaluator = evaluators[launch_limit_seconds];
  if (evaluator == nullptr) {
    EvaluatorOptions options;
    options.device = TestDevice();
    options.executable = BinaryDirectory() + "/bin/hone";
    options.cache_directory = BinaryDirectory() + "/tests/cache";
    // The worker gets this process's environment to find the driver: some machines name its folder in LD_LIBRARY_PATH
    // only.
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
      options.environment.emplace_back(*entry);
    options.launch_limit_seconds = launch_limit_seconds;
    evaluator = MakeEvaluator(options).value();
  }
  return *evaluator;
}

void AddToTable(const CorpusEntry& entry, const Evaluation& evaluation) {
  const char* table = std::getenv("HONE_TEST_TABLE");
  if (table == nullptr) return;
  nlohmann::json line = {{"name", entry.name}, {"expect", entry.expect}, {"verdict", VerdictName(evaluation.verdict)},
                         {"detail", evaluation.detail.substr(0, 300)}, {"seconds", evaluation.wall_seconds}};
  for (const CaseResult& result : evaluation.cases) {
    if (result.speedup) line["speedup"] = result.speedup->median;
  }
  for (const Finding& finding : evaluation.findings) line["findings"].push_back(finding.kind);
  std::ofstream(table, std::ios::app) << line.dump() << std::endl;
}

// Returns the entry's verdict, or "no_gain" if its file allows that and the candidate is right and gains nothing: its
// speedup over the task's seed is below `at_most`. An entry for a GPU must state `at_most`, because honest kernels of
// its kind may be faster than the seed.
std::string Outcome(const CorpusEntry& entry, const Evaluation& evaluation, bool modelled) {
  const double most = modelled ? 1.03 : entry.at_most.value_or(0);
  const bool may_be_right = std::count(entry.expect.begin(), entry.expect.end(), "no_gain") > 0;
  if (may_be_right && evaluation.verdict == Verdict::kOk && evaluation.geomean_speedup.value_or(1e9) < most) return "no_gain";
  return std::string(VerdictName(evaluation.verdict));
}

class Corpus : public testing::TestWithParam<CorpusEntry> {
 protected:
  void Judge() {
    const CorpusEntry& entry = GetParam();
    ASSERT_FALSE(entry.task.empty()) << entry.path << " lacks its '// task:' line";
    ASSERT_FALSE(entry.expect.empty()) << entry.path << " lacks its '// expect:' line";
    ASSERT_TRUE(entry.on_sim || entry.on_gpu) << entry.path << " lacks its '// where:' line";
    const bool on_sim = TestDevice().rfind("sim", 0) == 0;
    if (on_sim ? !entry.on_sim : !entry.on_gpu)
      GTEST_SKIP() << "not for " << TestDevice() << ", by its own 'where' line";
    if (on_sim && !entry.represented_by.empty() && std::getenv("HONE_TEST_WHOLE") == nullptr)
      GTEST_SKIP() << entry.represented_by << " stands for it; `make test-whole` judges both";
    Result<Task> task = LoadTask(SourceDirectory() + "/tasks/" + entry.task);
    ASSERT_TRUE(task.ok()) << task.status().message();
    EvaluationRequest request;
    request.source = entry.source;
    request.name = entry.name + ".cu";
    if (on_sim) request.seed = entry.seed.value_or(SeedOf(entry.name));
    // On a GPU the timed launches are part of the defence. The simulator only times what an entry names.
    request.time = !on_sim || entry.timed.has_value();
    // false leaves out the shape with more elements than 32 bits count, unless the entry is timed.
    if (on_sim) request.simulate = false;
    request.warm = false;
    request.max_quads = 10;
    if (on_sim && entry.timed) request.only_time_cases = {*entry.timed};
    // The second timed shape of every task is larger than the shapes that are checked.
    if (!on_sim) request.only_time_cases = {entry.timed.value_or(1)};
    // On the host's processors a launch takes longer when they are busy, so only entries that may hang have a short
    // limit.
    const bool may_hang = std::count(entry.expect.begin(), entry.expect.end(), "timed_out") > 0;
    Result<Evaluation> evaluation = SharedEvaluator(may_hang || !on_sim ? 2 : 200).Evaluate(*task, request);
    ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
    AddToTable(entry, *evaluation);
    EXPECT_THAT(entry.expect, testing::Contains(Outcome(entry, *evaluation, on_sim)))
        << evaluation->detail << "\nseed " << evaluation->seed << "\n"
        << evaluation->log;
    if (evaluation->verdict != Verdict::kOk) {
      EXPECT_FALSE(evaluation->detail.empty()) << "a rejection must say why";
      EXPECT_FALSE(evaluation->geomean_speedup.has_value()) << "timings exist only with the verdict ok";
    }
  }
};

class Cheats : public Corpus {};
class Honest : public Corpus {};

TEST_P(Cheats, AreCaughtWithTheVerdictTheyDeserve) { Judge(); }
TEST_P(Honest, AreNeverRefused) { Judge(); }

std::string Name(const testing::TestParamInfo<CorpusEntry>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Corpus, Cheats, testing::ValuesIn(ReadCorpus(SourceDirectory() + "/tests/cheats")), Name);
INSTANTIATE_TEST_SUITE_P(Corpus, Honest, testing::ValuesIn(ReadCorpus(SourceDirectory() + "/tests/honest")), Name);

// The entry that represents another one is judged on the simulated GPU each time, and expects the same verdicts.
TEST(CorpusSize, WhatStandsForAnEntryIsJudged) {
  const std::vector<CorpusEntry> cheats = ReadCorpus(SourceDirectory() + "/tests/cheats");
  size_t represented = 0;
  for (const CorpusEntry& entry : cheats) {
    if (entry.represented_by.empty()) continue;
    ++represented;
    const auto by = std::find_if(cheats.begin(), cheats.end(),
                                 [&](const CorpusEntry& other) { return other.name == entry.represented_by; });
    ASSERT_NE(by, cheats.end()) << entry.path;
    EXPECT_TRUE(by->on_sim && by->represented_by.empty()) << entry.path;
    EXPECT_EQ(by->expect, entry.expect) << entry.path;
  }
  EXPECT_LE(represented, 12u) << "a corpus that is hardly judged proves little";
  for (const CorpusEntry& entry : ReadCorpus(SourceDirectory() + "/tests/honest"))
    EXPECT_TRUE(entry.represented_by.empty()) << entry.path;
}

TEST(CorpusSize, HoldsAtLeastFortyCheatsAndSixtyHonestKernels) {
  EXPECT_GE(ReadCorpus(SourceDirectory() + "/tests/cheats").size(), 40u);
  EXPECT_GE(ReadCorpus(SourceDirectory() + "/tests/honest").size(), 60u);
}

}  // namespace
}  // namespace hone
