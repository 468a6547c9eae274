// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests STARK's two ablations of `tree`: the search without roles, and the roles without the search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tuner/run/replay_run.h"
#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::HasSubstr;

TEST(Ablation, SearchWithoutRolesAsksOneCoderAndStillGrowsATree) {
  ScriptedRun run("tree", Journeyman);
  run.options.max_attempts = 24;
  run.options.settings = {{"tree.roles", 0}};
  const RunView view = run.RunToTheEnd();
  bool mended = false;
  std::set<int64_t> parents;
  for (const RunNode& n : view.nodes) {
    if (n.origin != "reply") continue;
    ASSERT_EQ(n.turns.size(), 1u);
    EXPECT_EQ(n.turns[0].role, "coder");
    EXPECT_EQ(n.turns[0].prompt, "tree_alone");
    parents.insert(n.parent);
    if (n.purpose != "debug") continue;
    mended = true;
    EXPECT_THAT(run.mind.requests.at(RequestNumber(n.id, 0, /*repair=*/false)).messages[0].text,
                HasSubstr("## It failed"));
  }
  EXPECT_TRUE(mended);
  EXPECT_GT(parents.size(), 4u);
  EXPECT_EQ(ReplayRun(*run.store, "r1").value().difference, "");
}

TEST(Ablation, RolesWithoutSearchGoOnFromTheNewestVersion) {
  ScriptedRun run("tree", Journeyman);
  run.options.max_attempts = 16;
  run.options.settings = {{"tree.search", 0}, {"tree.bind", 0}};
  const RunView view = run.RunToTheEnd();
  int64_t newest = 0;
  bool planned = false, debugged = false;
  for (const RunNode& n : view.nodes) {
    if (n.origin != "reply") continue;
    EXPECT_EQ(n.parent, newest) << n.id;
    planned = planned || n.turns.front().role == "planner";
    debugged = debugged || n.turns.front().role == "debugger";
    if (n.evaluation) newest = n.id;
  }
  EXPECT_TRUE(planned);
  EXPECT_TRUE(debugged);
}

}  // namespace
}  // namespace hone
