// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/repairs.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Returns a node that was made from `parent` and judged.
RunNode JudgedFrom(int64_t id, int64_t parent, Verdict verdict) {
  RunNode node;
  node.id = id;
  node.parent = parent;
  node.origin = "reply";
  node.state = NodeState::kEvaluated;
  node.source_hash = SourceHash::Of(std::to_string(id));
  node.evaluation.emplace();
  node.evaluation->verdict = verdict;
  return node;
}

TEST(Repairs, AFailureIsRepairedOnceHoweverManyStepsItTakes) {
  RunView view;
  view.nodes.resize(1);
  for (const RunNode& node : {JudgedFrom(1, 0, Verdict::kCompileError), JudgedFrom(2, 1, Verdict::kWrongOutput),
                              JudgedFrom(3, 2, Verdict::kOk), JudgedFrom(4, 1, Verdict::kOk),
                              JudgedFrom(5, 3, Verdict::kCrashed), JudgedFrom(6, 0, Verdict::kOk)}) {
    view.nodes.push_back(node);
  }
  RepairCount count = CountRepairs(view);
  EXPECT_EQ(count.judged, 6);
  EXPECT_EQ(count.right, 3);
  EXPECT_EQ(count.failures, 2) << "nodes 1 and 5; node 2 is a repair of node 1 that failed";
  EXPECT_EQ(count.repaired, 1) << "node 1, once, though nodes 3 and 4 are right";
  EXPECT_EQ(RepairText(count), "3 of 6 judged versions right; 1 of 2 failures repaired (50 %)");
  count += count;
  EXPECT_EQ(count.failures, 4);
  EXPECT_EQ(RepairText(CountRepairs(RunView())), "");
}

TEST(Repairs, RefusedRepliesAreCountedByProblemAndByWhetherTellingHelped) {
  RunView view;
  view.nodes.resize(1);
  view.nodes.push_back(JudgedFrom(1, 0, Verdict::kOk));
  view.nodes.push_back(JudgedFrom(2, 0, Verdict::kOk));
  view.nodes[2].source_hash = SourceHash();
  view.nodes[2].evaluation.reset();
  const auto record_repair = [&](int64_t node, const char* problem, const char* kind) {
    Memo memo;
    memo.node = node;
    memo.kind = kind;
    memo.problem = problem;
    view.memos.push_back(memo);
  };
  record_repair(1, "outside_plan", "problem");
  record_repair(2, "outside_plan", "problem");
  record_repair(2, "repeated_idea", "problem");
  record_repair(2, "", "plan");  // a planner's repair: its turn went on
  const RepairCount count = CountRepairs(view);
  EXPECT_EQ(count.replies.at("outside_plan").told, 2);
  EXPECT_EQ(RefusedText(count), "outside_plan 2 (2 mended), repeated_idea 1 (1 mended)");
  view.memos.pop_back();
  EXPECT_EQ(RefusedText(CountRepairs(view)), "outside_plan 2 (1 mended), repeated_idea 1");
}

}  // namespace
}  // namespace hone
