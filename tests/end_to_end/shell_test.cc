// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// `hone` and `hone-gnn` as somebody meets them in a shell who knows neither: versions, help, examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/subprocess.h"

namespace hone {
namespace {

using nlohmann::json;
using testing::HasSubstr;
const std::string kSource = HONE_SOURCE_DIR;

struct Outcome {
  int status = -1;
  std::string out, err;
};

class Shell : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = MakeTemporaryDirectory();
    ASSERT_TRUE(made.ok());
    scratch_ = std::move(*made);
  }
  Outcome Run(std::vector<std::string> argv, const std::string& folder = kSource) {
    SubprocessOptions options;
    options.argv = std::move(argv);
    options.environment = {"PATH=" HONE_BINARY_DIR "/bin:/usr/local/bin:/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
                           "HONE_STATE=" + scratch_.path(), "HOME=" + scratch_.path()};
    options.working_directory = folder;
    options.limit_seconds = 300;
    Result<SubprocessResult> result = RunSubprocess(options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    EXPECT_EQ(result->exit.signal, 0) << result->exit.Describe();
    return {result->exit.exit_status, result->out, result->err};
  }
  std::string program() const { return GetParam(); }
  // The program that the test is about, with these arguments.
  Outcome Program(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HONE_BINARY_DIR "/bin/" + program());
    return Run(std::move(arguments));
  }
  TemporaryDirectory scratch_;
};
INSTANTIATE_TEST_SUITE_P(Programs, Shell, testing::Values("hone", "hone-gnn"), [](const auto& test) {
  return std::string(test.param) == "hone" ? "hone" : "hone_gnn";
});

TEST_P(Shell, VersionSaysFromWhichCommitAndHowItWasBuilt) {
  const Outcome told = Program({"--version", "--json"});
  ASSERT_EQ(told.status, 0) << told.err;
  const json facts = json::parse(told.out);
  const Outcome text = Program({"--version"});
  EXPECT_THAT(text.out, testing::StartsWith(program() + " " + facts.at("version").get<std::string>() + "\n"));
  EXPECT_THAT(text.out, HasSubstr(facts.at("compiler").get<std::string>()));
  EXPECT_THAT(text.out, HasSubstr(facts.at("cuda_toolkit").is_null() ? "without CUDA" : facts.at("cuda_toolkit").get<std::string>()));
  // An unpacked archive has no commit, and says so.
  const Outcome git = Run({"/usr/bin/env", "git", "-C", kSource, "rev-parse", "--show-cdup", "HEAD"});
  if (git.status == 0 && git.out.starts_with("\n")) {
    EXPECT_EQ(facts.at("commit").get<std::string>().size(), 40u);
    EXPECT_THAT(text.out, HasSubstr(facts.at("commit").get<std::string>()));
  } else {
    EXPECT_TRUE(facts.at("commit").is_null()) << told.out;
    EXPECT_THAT(text.out, HasSubstr("without a git repository"));
  }
  EXPECT_EQ(Program({"--json"}).status, 2) << "--json belongs to --version";
}

}  // namespace
}  // namespace hone
