// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the strategy `funnel` in whole runs: directions, lines, ideas carried over, patience, and choices left open.
#include "tuner/strategies/funnel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tuner/agents/direction.h"
#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Returns a model whose version of node k runs in times[k - 1] us, and in 100 us, as the seed does, if there is no such
// time.
Mind::Answer InTimes(std::vector<double> times) {
  return [times](const ModelRequest& r) -> Result<std::string> {
    const auto node = static_cast<size_t>(r.number / (2 * kMaxTurns));
    return FileReply(fmt::format("idea {}", r.number),
                     fmt::format("n{} SPEED {}", r.number, node <= times.size() ? times[node - 1] : 100.0));
  };
}

// Returns the part of the prompt that names the direction to take.
std::string DirectionText(ScriptedRun& run, int64_t id) {
  const std::string& text = RequestText(run, id);
  const size_t at = text.find("## Your direction");
  return at == std::string::npos ? "" : text.substr(at, text.find("Others take", at) - at);
}

TEST(Funnel, FirstAttemptsStartTogetherAndTakeADirectionEach) {
  ScriptedRun run("funnel", InTimes({90, 60, 80, 55, 95, 85}));
  run.options.max_attempts = 6;
  const RunView view = run.RunToTheEnd();
  std::set<std::string> directions;
  for (int64_t id = 1; id <= 6; ++id) {
    EXPECT_EQ(PromptOf(view, id), "funnel_wide");
    EXPECT_EQ(view.node(id).parent, 0) << "from the same version, whatever was found meanwhile";
    directions.insert(DirectionText(run, id));
  }
  EXPECT_EQ(directions.size(), 6u);
  EXPECT_THAT(DirectionText(run, 1), HasSubstr("uncoalesced")) << "what the profile found comes first";
  EXPECT_THAT(DirectionText(run, 2), HasSubstr("Vector access"));
  ASSERT_TRUE(view.node(1).hint && view.node(2).hint) << "the record says which direction answers which finding";
  EXPECT_EQ(view.node(1).hint->finding, "uncoalesced");
  EXPECT_EQ(view.node(1).hint->location, "seed.cu:8");
  EXPECT_EQ(view.node(2).hint->hint, "Vector access");
  EXPECT_EQ(view.node(2).hint->finding, "");
  EXPECT_THAT(DirectionText(run, 2), HasSubstr("uncoalesced")) << "the others' directions are named";
  EXPECT_THAT(RequestText(run, 1), HasSubstr("[tune]"));
}

TEST(Funnel, ThenTheTwoFastestLinesInTurnAndWhatOneFoundIsCarriedOver) {
  // The lines of nodes 4 (1.82x) and 2 (1.67x) are fast enough to be developed; that of node 3 (1.25x) is not. Node 7
  // makes the line of node 4 faster.
  ScriptedRun run("funnel", InTimes({90, 60, 80, 55, 95, 85, 54}));
  run.options.max_attempts = 10;
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(PromptOf(view, 7), "funnel_deep");
  EXPECT_EQ(view.node(7).parent, 4);
  EXPECT_EQ(PromptOf(view, 8), "funnel_deep");
  EXPECT_EQ(view.node(8).parent, 2);
  EXPECT_EQ(view.node(9).parent, 7) << "each line goes on from its fastest version";
  EXPECT_EQ(PromptOf(view, 10), "funnel_cross");
  EXPECT_EQ(view.node(10).parent, 7);
  EXPECT_THAT(view.node(10).turns.front().shown, ElementsAre(2));
  EXPECT_THAT(RequestText(run, 10), HasSubstr("### Node 2, from node 0"));
}

TEST(Funnel, ASlowSecondLineIsLeftAlone) {
  ScriptedRun run("funnel", InTimes({50, 90}));
  run.options.max_attempts = 5;
  run.options.settings = {{"funnel.wide", 2}};
  const RunView view = run.RunToTheEnd();
  for (int64_t id = 3; id <= 5; ++id) EXPECT_EQ(view.node(id).parent, 1) << id;
}

TEST(Funnel, AfterAttemptsWithoutAGainOneMoreDirectionIsTriedFromTheBest) {
  ScriptedRun run("funnel", InTimes({90, 50}));
  run.options.max_attempts = 9;
  run.options.settings = {{"funnel.wide", 2}, {"funnel.patience", 3}};
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(PromptOf(view, 5), "funnel_deep");
  EXPECT_EQ(PromptOf(view, 6), "funnel_wide");
  EXPECT_EQ(view.node(6).parent, 2);
  EXPECT_THAT(DirectionText(run, 6), Not(HasSubstr(DirectionText(run, 2))));
  EXPECT_EQ(PromptOf(view, 7), "funnel_deep") << "and then the lines again";
}

TEST(Funnel, WhatFailsIsMendedOnceAndAllWrongDirectionsAreFollowedByMore) {
  ScriptedRun run("funnel", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number), fmt::format("n{} SCRIPT_WRONG", r.number));
  });
  run.options.max_attempts = 8;
  run.options.settings = {{"funnel.wide", 2}};
  const RunView view = run.RunToTheEnd();
  for (int64_t id = 1; id <= 8; ++id) {
    EXPECT_EQ(view.node(id).purpose, id % 2 == 1 ? "optimise" : "debug") << id;
    EXPECT_EQ(view.node(id).parent, id % 2 == 1 ? 0 : id - 1) << id;
    EXPECT_EQ(PromptOf(view, id), id % 2 == 1 ? "funnel_wide" : "team_fix") << id;
  }
}

// The model leaves the block size open as a tunable, and a sweep finds its best value.
TEST(Funnel, OpenChoicesAreSweptBeforeAnythingIsBuiltOnThem) {
  const std::string tunable = std::string("/*hone\n[tune]\nBLOCK = [256, 128]\n") +
                              std::string(kScriptedSeed).substr(std::string("/*hone\n").size()) + "// n1 SPEED 80\n";
  const auto go = [&](double sweep) {
    ScriptedRun run("funnel", [&](const ModelRequest& r) -> Result<std::string> {
      if (r.number / (2 * kMaxTurns) == 1) return "IDEA: a template\n```cuda\n" + tunable + "```\n";
      return FileReply(fmt::format("idea {}", r.number), fmt::format("n{} SPEED 90", r.number));
    });
    run.evaluator.set_time([](const std::string& source, const Binding& binding, const Dims& dims) {
      const auto block = binding.find("BLOCK");
      return MarkedTime(source, binding, dims) * (block != binding.end() && block->second == 128 ? 0.5 : 1);
    });
    run.options.max_attempts = 4;
    run.options.settings = {{"funnel.wide", 2}, {"funnel.sweep", sweep}};
    return run.RunToTheEnd();
  };
  const RunView view = go(1);
  EXPECT_TRUE(view.node(1).kept) << "a gain as it stands";
  EXPECT_EQ(view.node(2).origin, "sweep");
  EXPECT_EQ(view.node(2).parent, 1);
  EXPECT_NEAR(view.node(2).speedup.value_or(0), 2.5, 1e-9);
  EXPECT_EQ(view.node(3).parent, 0) << "the next direction starts where the first did";
  EXPECT_EQ(view.node(4).parent, 2) << "and the line goes on from its best choices";
  EXPECT_NE(go(0).node(2).origin, "sweep");
}

TEST(Funnel, DirectionsGoAroundAndAreEmptyWithoutAny) {
  RunView view;
  view.nodes.resize(4);
  for (int64_t id = 1; id < 4; ++id) {
    view.nodes[static_cast<size_t>(id)].id = id;
    view.nodes[static_cast<size_t>(id)].turns = {{"coder", kWidePrompt, 0.7, true, true, {}}};
  }
  const std::string menu = "Some words.\n\n- **One.** First,\n  in two lines.\n- **Two.** Second.\n";
  const auto text = [&](int64_t id, const std::string& entries) {
    const std::optional<AttemptDirection> direction = DirectionOf(view, view.node(id), nullptr, entries);
    return direction ? direction->text : std::string();
  };
  EXPECT_EQ(text(1, menu), "**One.** First,\n  in two lines.\n\n(The other directions: Two.)");
  EXPECT_EQ(text(2, menu), "**Two.** Second.\n\n(The other directions: One.)");
  EXPECT_EQ(text(3, menu), text(1, menu));
  EXPECT_EQ(text(1, "no entries"), "");
}

}  // namespace
}  // namespace hone
