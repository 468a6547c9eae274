// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests runs that begin with a version of the user's that is not correct.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/run/log/repairs.h"
#include "tuner/run/log/strategy_summary.h"
#include "tuner/run/replay_run.h"
#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::HasSubstr;

class BrokenStart : public testing::TestWithParam<const char*> {};

TEST_P(BrokenStart, IsNodeOneAndIsMendedByWhatTheStrategyDoesWithItsOwnFailures) {
  const std::string broken = SourceWithMark("SCRIPT_WRONG");
  ScriptedRun run(GetParam(), [](const ModelRequest& r) -> Result<std::string> {
    if (r.role != "coder" && r.role != "debugger") return Journeyman(r);
    if (r.messages[0].text.find("You do not repair it yet") != std::string::npos)
      return std::string("CAUSE: x\nFIX: y\n");
    return FileReply(fmt::format("mend {}", r.number), fmt::format("n{} SPEED 50", r.number));
  });
  run.options.max_attempts = 3;
  run.options.settings = {{"team.cases", 0}};
  ASSERT_TRUE(
      StartRun(*run.store, run.task, run.evaluator.facts(), run.options, "r1", 1, nullptr, kRunVersion, {}, broken)
          .ok());
  const RunView view = run.Continue().value();
  ASSERT_TRUE(view.node(1).evaluation);
  EXPECT_EQ(view.node(1).evaluation->verdict, Verdict::kWrongOutput);
  EXPECT_EQ(view.node(1).source_hash, SourceHash::Of(broken));
  EXPECT_EQ(view.node(2).parent, 1);
  EXPECT_EQ(view.node(2).purpose, "debug");
  EXPECT_TRUE(view.node(2).kept) << "the repaired version is the run's best so far";
  EXPECT_EQ(view.attempts, 3) << "the start is the first of them";
  const RepairCount repairs = CountRepairs(view);
  EXPECT_EQ(repairs.failures, 1);
  EXPECT_EQ(repairs.repaired, 1);
  EXPECT_THAT(SummaryTable(SummarizeByStrategy({OutcomeOf(view)})), HasSubstr("      1/1 "));
  const ReplayedRun again = ReplayRun(*run.store, "r1").value();
  EXPECT_EQ(again.difference, "");
}

INSTANTIATE_TEST_SUITE_P(Strategies, BrokenStart, testing::Values("refine", "team", "tree", "reflexion", "funnel", "reckon"),
                         [](const auto& strategy) { return std::string(strategy.param); });

TEST(BrokenStarts, WhatCannotEvenBeReadIsJudgedToo) {
  ScriptedRun run("refine", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("mend {}", r.number), fmt::format("n{} SPEED 50", r.number));
  });
  run.options.max_attempts = 2;
  ASSERT_TRUE(
      StartRun(*run.store, run.task, run.evaluator.facts(), run.options, "r1", 1, nullptr, kRunVersion, {}, "no kernel")
          .ok());
  const RunView view = run.Continue().value();
  EXPECT_EQ(view.node(1).evaluation->verdict, Verdict::kParseError);
  EXPECT_EQ(view.best, 2);
}

}  // namespace
}  // namespace hone
