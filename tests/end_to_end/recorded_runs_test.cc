// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Repeats the runs under examples/runs as a reader would: in an empty state folder, without a key, a model or a GPU.
// The tree and the winner must equal those in the record. The strategies' winners are judged again on the simulated
// device, if it can run them.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/process/subprocess.h"

namespace hone {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
const std::string kRuns = HONE_SOURCE_DIR "/examples/runs";

std::string TestName(const testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  for (char& c : name) c = c == '-' || c == '/' ? '_' : c;
  return name;
}

class RecordedRuns : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { scratch_ = MakeTemporaryDirectory().value(); }
  // Returns what the command prints; checks that it ended with 0.
  std::string Printed(const std::vector<std::string>& arguments) {
    SubprocessOptions options;
    options.argv = {HONE_BINARY_DIR "/bin/hone"};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = {"PATH=/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
                           "HONE_STATE=" + scratch_.path()};
    options.working_directory = HONE_SOURCE_DIR;
    options.limit_seconds = 300;
    const SubprocessResult result = RunSubprocess(options).value();
    EXPECT_EQ(result.exit.exit_status, 0) << result.out << result.err;
    return result.out;
  }
  // Returns the command's output with --json.
  json Hone(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    return json::parse(Printed(arguments), nullptr, false);
  }
  std::string path() const { return kRuns + "/" + GetParam() + ".jsonl"; }
  TemporaryDirectory scratch_;
};

TEST_P(RecordedRuns, RepeatsToTheSameTreeAndWinner) {
  const bool measured = GetParam().starts_with("h200/");
  ASSERT_LT(fs::file_size(path()), measured ? 4'000'000u : 1'000'000u);
  const json recorded = Hone({"show", path()});
  const json replayed = Hone({"optimize", "--replay", path()});
  ASSERT_TRUE(recorded.is_object() && replayed.is_object());
  EXPECT_EQ(replayed["replay"]["same"], true) << replayed["replay"]["difference"];
  EXPECT_EQ(replayed["replay"]["compared"].get<size_t>(), recorded["nodes"].size());
  EXPECT_EQ(recorded["attempts"], measured && !GetParam().ends_with("-matmul_bf16") ? 32 : 8);
  EXPECT_EQ(recorded["modelled"], !measured);
  for (const char* field : {"task", "strategy", "best", "state", "structure"})
    EXPECT_EQ(replayed[field], recorded[field]) << field;
  ASSERT_EQ(replayed["nodes"].size(), recorded["nodes"].size());
  for (size_t i = 0; i < recorded["nodes"].size(); ++i) {
    for (const char* field : {"id", "parent", "idea", "verdict", "kept", "source"})
      EXPECT_EQ(replayed["nodes"][i].value(field, json()), recorded["nodes"][i].value(field, json()))
          << i << " " << field;
  }
  EXPECT_EQ(replayed["final"]["evaluation"]["geomean_speedup"], recorded["final"]["evaluation"]["geomean_speedup"]);
}

INSTANTIATE_TEST_SUITE_P(Examples, RecordedRuns,
                         testing::Values("refine-layernorm", "team-fused_add_rmsnorm", "tree-softmax",
                                         "sample-layernorm", "sample-fused_add_rmsnorm", "sample-softmax",
                                         "single-layernorm", "single-fused_add_rmsnorm", "single-softmax",
                                         "h200/refine-transpose", "h200/team-fused_add_rmsnorm", "h200/tree-edge_softmax",
                                         "h200/sample-transpose", "h200/sample-fused_add_rmsnorm", "h200/sample-edge_softmax",
                                         "h200/single-transpose", "h200/single-fused_add_rmsnorm", "h200/single-edge_softmax",
                                         "h200/cute-matmul_bf16", "h200/cuda-matmul_bf16"),
                         TestName);

class RecordedWinners : public RecordedRuns {};

TEST_P(RecordedWinners, AreRightWhenJudgedAnew) {
  // The winners are judged by today's task: the recorded tasks do not say which special values they cover, and then
  // infinities are covered too.
  const json run = Hone({"show", path()});
  ASSERT_TRUE(run.is_object());
  const std::string winner = scratch_.path() + "/winner.cu";
  ASSERT_TRUE(WriteFileAtomically(winner, Printed({"show", path(), "--source"})).ok());
  const json judged_again =
      Hone({"eval", run["task"].get<std::string>(), winner, "--device", "sim", "--no-time", "--launch-limit", "200"});
  EXPECT_EQ(judged_again["verdict"], "ok") << judged_again["detail"];
}

INSTANTIATE_TEST_SUITE_P(Examples, RecordedWinners,
                         testing::Values("refine-layernorm", "team-fused_add_rmsnorm", "tree-softmax", "h200/refine-transpose",
                                         "h200/tree-edge_softmax"),
                         TestName);

}  // namespace
}  // namespace hone
