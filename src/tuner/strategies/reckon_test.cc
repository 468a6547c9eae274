// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the strategy `reckon` in whole runs: what its prompts show of earlier reckonings, which design each of several
// attempts writes, and when the kernel is designed anew.
#include "tuner/strategies/reckon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Returns a model whose version of node k runs in times[k - 1] us, and in 100 us, as the seed does, if there is no such
// time. For each timed shape it predicts `predicted`.
Mind::Answer Reckoning(std::vector<double> times, std::string predicted = "70 us, 0.08 ms") {
  return [times, predicted](const ModelRequest& r) -> Result<std::string> {
    const auto node = static_cast<size_t>(r.number / (2 * kMaxTurns));
    return fmt::format("IDEA: idea {}\nThe copy has design {}.\nPREDICT: {}\n```cuda\n{}```\n", r.number, r.number, predicted,
                       SourceWithMark(fmt::format("n{} SPEED {}", r.number, node <= times.size() ? times[node - 1] : 100.0)));
  };
}

TEST(Reckon, ShowsWhatWasReckonedBesideWhatWasMeasured) {
  ScriptedRun run("reckon", Reckoning({50}));
  run.options.max_attempts = 2;
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(PromptOf(view, 1), kReckonPrompt) << "the task has a seed";
  EXPECT_THAT(RequestText(run, 1), HasSubstr("Choose the design with the least reckoned time."));
  EXPECT_THAT(RequestText(run, 1), Not(HasSubstr("What was reckoned for this version"))) << "nobody reckoned for the seed";
  EXPECT_THAT(view.node(1).predicted_us, ElementsAre(70, 80));
  EXPECT_EQ(view.node(2).parent, 1);
  EXPECT_THAT(RequestText(run, 2), HasSubstr("What was reckoned for this version before it was measured\n\nThe copy has design"));
  EXPECT_THAT(RequestText(run, 2), HasSubstr("; reckoned 70, 80 us, took 50, 50 us"));
}

TEST(Reckon, AttemptsUnderWayTogetherWriteDifferentDesigns) {
  ScriptedRun run("reckon", Reckoning({}));
  run.options.max_attempts = 3;
  run.options.parallel = 3;
  run.options.rounds = true;
  const RunView view = run.RunToTheEnd();
  EXPECT_THAT(RequestText(run, 1), HasSubstr("least reckoned time"));
  EXPECT_THAT(RequestText(run, 2), HasSubstr("Another attempt writes the first at this moment. Write number 2"));
  EXPECT_THAT(RequestText(run, 3), HasSubstr("2 other attempts write the first 2 at this moment. Write number 3"));
}

TEST(Reckon, WithoutAGainTheKernelIsDesignedAnew) {
  ScriptedRun run("reckon", Reckoning({50}));
  run.options.max_attempts = 6;
  run.options.settings = {{"reckon.patience", 2}};
  const RunView view = run.RunToTheEnd();
  for (const int64_t id : {1, 2, 3, 5, 6}) EXPECT_EQ(PromptOf(view, id), kReckonPrompt) << id;
  EXPECT_EQ(PromptOf(view, 4), kReckonAnewPrompt) << "two attempts came after the gain of node 1";
  EXPECT_EQ(view.node(4).parent, 0);
  EXPECT_EQ(view.node(4).incumbent, 1) << "it is timed against the best all the same";
  EXPECT_THAT(RequestText(run, 4), HasSubstr("## The reference"));
  EXPECT_THAT(RequestText(run, 4), HasSubstr("## Earlier attempts"));
  EXPECT_EQ(view.node(5).parent, 1);
}

TEST(Reckon, AWrongVersionIsMendedOnce) {
  ScriptedRun run("reckon", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number), fmt::format("n{} SCRIPT_WRONG", r.number));
  });
  run.options.max_attempts = 4;
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(view.node(1).purpose, "optimise");
  EXPECT_EQ(view.node(2).purpose, "debug");
  EXPECT_EQ(PromptOf(view, 2), "team_fix");
  EXPECT_EQ(view.node(3).purpose, "optimise");
  EXPECT_THAT(view.node(1).predicted_us, IsEmpty());
}

}  // namespace
}  // namespace hone
