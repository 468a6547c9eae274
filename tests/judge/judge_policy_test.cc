// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that each group of the judge's chosen numbers names a section of a page of docs/ that has it.
#include "tuner/evaluate/judge/judge_policy.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace hone {
namespace {

std::string Text(const std::string& path) {
  std::ifstream stream(std::string(HONE_SOURCE_DIR) + path);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(JudgePolicy, NamesSectionsThatThePagesHave) {
  const std::string policy = Text("/src/tuner/evaluate/judge/judge_policy.h");
  const std::string before = "// ---- docs/";
  int sections = 0;
  for (size_t at = policy.find(before); at != std::string::npos; at = policy.find(before, at + 1)) {
    const size_t name = at + before.size(), begin = policy.find('"', name) + 1;
    const std::string page = policy.substr(name, policy.find(',', name) - name);
    const std::string section = policy.substr(begin, policy.find('"', begin) - begin);
    EXPECT_NE(Text("/docs/" + page).find("# " + section + "\n"), std::string::npos) << page << ", " << section;
    ++sections;
  }
  EXPECT_GE(sections, 5);
}

// The oracle's limit is longer than the candidate's, but never so long that a watchdog would end it first, and short if
// the launch limit is short.
TEST(JudgePolicy, TheOraclesLimitFollowsTheLaunchLimit) {
  EXPECT_EQ(policy::OracleSeconds(10), 120) << "by default";
  EXPECT_EQ(policy::OracleSeconds(200), 120);
  EXPECT_LT(policy::OracleSeconds(200), policy::kCheckSeconds);
  EXPECT_EQ(policy::OracleSeconds(3), 36);
  EXPECT_EQ(policy::OracleSeconds(0.1), 20)
      << "a simulated GPU on a busy machine takes some seconds for an honest oracle";
}

}  // namespace
}  // namespace hone
