// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests host mode on a real GPU: nvcc, the confined worker and the device together. host_mode_test and worker_test test
// everything before the device without a GPU. Skips, with the reason, if there is no GPU or no nvcc. HONE_TEST_SOURCE
// and HONE_TEST_BINARY are as in corpus_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "hone/tuner/evaluator.h"
#include "tests/candidate_corpus.h"

namespace hone {
namespace {

std::string Where(const char* variable, const char* built) {
  const char* place = std::getenv(variable);
  return place == nullptr ? built : place;
}
std::string SourceDirectory() { return Where("HONE_TEST_SOURCE", HONE_SOURCE_DIR); }
std::string BinaryDirectory() { return Where("HONE_TEST_BINARY", HONE_BINARY_DIR); }

class HostModeOnAGpu : public testing::Test {
 protected:
  static constexpr double kLaunchLimit = 2;

  void SetUp() override {
    EvaluatorOptions options;
    options.device = "cuda:0";
    options.executable = BinaryDirectory() + "/bin/hone";
    options.cache_directory = BinaryDirectory() + "/tests/cache";
    // The worker gets this process's environment to find the driver: some machines name its folder in LD_LIBRARY_PATH
    // only.
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) options.environment.emplace_back(*entry);
    options.launch_limit_seconds = kLaunchLimit;
    Result<std::unique_ptr<Evaluator>> made = MakeEvaluator(options);
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    evaluator_ = std::move(*made);
  }
  Evaluation Judged(const CorpusEntry& entry, bool time) {
    const Task task = LoadTask(SourceDirectory() + "/tasks/" + entry.task).value();
    EvaluationRequest request;
    request.source = entry.source;
    request.name = entry.name + ".cu";
    request.time = time;
    request.warm = false;
    request.max_quads = 10;
    request.only_time_cases = {1};
    return evaluator_->Evaluate(task, request).value();
  }
  static CorpusEntry Find(const std::string& folder, const std::string& name) {
    const std::vector<CorpusEntry> corpus = ReadCorpus(SourceDirectory() + "/tests/" + folder);
    const auto found = std::find_if(corpus.begin(), corpus.end(), [&](const CorpusEntry& e) { return e.name == name; });
    EXPECT_NE(found, corpus.end()) << name;
    return found == corpus.end() ? CorpusEntry{} : *found;
  }
  std::unique_ptr<Evaluator> evaluator_;
};

TEST_F(HostModeOnAGpu, AnHonestFunctionIsTimedAndItsGuaranteeIsCalledWeaker) {
  const Evaluation evaluation = Judged(Find("honest", "host_mode_relu"), /*time=*/true);
  if (evaluation.verdict == Verdict::kUnsupported) GTEST_SKIP() << evaluation.detail;
  ASSERT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail << evaluation.log;
  EXPECT_EQ(evaluation.guarantee, "weaker: host mode");
  EXPECT_TRUE(evaluation.geomean_speedup.has_value());
}

TEST_F(HostModeOnAGpu, CheatsAreCaughtAndTheNextVerdictComes) {
  int judged = 0;
  for (const CorpusEntry& entry : ReadCorpus(SourceDirectory() + "/tests/cheats")) {
    if (entry.name.rfind("host_mode_", 0) != 0) continue;
    SCOPED_TRACE(entry.name);
    const Evaluation evaluation = Judged(entry, /*time=*/false);
    if (evaluation.verdict == Verdict::kUnsupported) GTEST_SKIP() << evaluation.detail;
    EXPECT_THAT(entry.expect, testing::Contains(std::string(VerdictName(evaluation.verdict)))) << evaluation.detail;
    ++judged;
  }
  EXPECT_GE(judged, 4);
  EXPECT_EQ(Judged(Find("honest", "host_mode_relu"), /*time=*/false).verdict, Verdict::kOk);
  EXPECT_EQ(Judged(Find("honest", "relu_scalar"), /*time=*/false).guarantee, "full");
}

}  // namespace
}  // namespace hone
