// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that replies that fail by their form are told apart from those that fail by their idea.
#include "tuner/run/log/structure_rate.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Returns an attempt with this many turns, of which the last was answered.
RunNode Attempt(int64_t id, int turns) {
  RunNode node;
  node.id = id;
  node.parent = 0;
  node.origin = "reply";
  node.turns.resize(static_cast<size_t>(turns));
  node.request = RequestNumber(id, turns - 1, /*repair=*/false);
  node.state = NodeState::kEvaluated;
  return node;
}
RunNode Judged(int64_t id, Verdict verdict, const std::string& detail = "") {
  RunNode node = Attempt(id, 1);
  node.evaluation.emplace();
  node.evaluation->verdict = verdict;
  node.evaluation->detail = detail;
  return node;
}
RunNode Unusable(int64_t id, int turns, const std::string& problem) {
  RunNode node = Attempt(id, turns);
  node.state = NodeState::kUnusable;
  node.problem = problem;
  return node;
}
RunView ViewOf(std::vector<RunNode> nodes) {
  RunView view;
  view.nodes.resize(1);
  view.nodes[0].origin = "seed";
  for (RunNode& node : nodes) view.nodes.push_back(std::move(node));
  return view;
}

TEST(StructureRate, CountsEditsThatFailAndFilesThatBreak) {
  RunView view = ViewOf({Judged(1, Verdict::kOk), Judged(2, Verdict::kCompileError, "k.cu:3:1: error: expected '}' at end of input"),
                         Judged(3, Verdict::kCompileError, "k.cu:9:5: error: 'foo' was not declared in this scope"),
                         Unusable(4, 1, "search_not_found"), Unusable(5, 1, "refused"), Unusable(6, 1, "not_asked"),
                         Unusable(7, 1, "no_more_ideas")});
  // Node 1 was repaired: its first reply named a region that does not exist.
  Memo memo;
  memo.node = 1;
  memo.kind = "problem";
  memo.problem = "unknown_region";
  view.memos.push_back(memo);
  const StructureCount count = CountStructure(view);
  EXPECT_EQ(count.replies, 6);      // nodes 1 to 5 and the first reply of node 1
  EXPECT_EQ(count.not_applied, 2);  // node 4, and that first reply
  EXPECT_EQ(count.broken, 1);       // node 2
  EXPECT_DOUBLE_EQ(count.rate(), 0.5);
  EXPECT_EQ(StructureText(count), "3 of 6 replies (50.0 %)");
}

TEST(StructureRate, APlannersReplyIsNotCode) {
  RunView view = ViewOf({Unusable(1, 2, "unknown_region")});
  view.nodes[1].request = RequestNumber(1, 0, /*repair=*/true);  // the planner's repair
  Memo memo;
  memo.node = 1;
  memo.turn = 0;
  memo.kind = "problem";
  memo.problem = "unknown_region";
  view.memos.push_back(memo);
  EXPECT_EQ(CountStructure(view).replies, 0);
  EXPECT_EQ(StructureText(CountStructure(view)), "no replies");
}

TEST(StructureRate, KnowsTheCompilersWords) {
  for (const char* text : {"node-3.cu:12:1: error: redefinition of 'void k()'", "a.cu(7): error: expected a declaration",
                           "a.cu(70): error: function \"k\" has already been defined",
                           "a.cu(9): error: expected a \"}\"", "x.cu:1:1: error: expected unqualified-id before '{' token"}) {
    EXPECT_TRUE(IsStructuralDiagnostic(text)) << text;
  }
  for (const char* text : {"a.cu(7): error: identifier \"n\" is undefined", "x.cu:4:9: error: expected ';' before 'int'",
                           "x.cu:4:9: error: cannot convert 'float*' to 'int'\nx.cu:9:1: error: redefinition of 'k'", ""}) {
    EXPECT_FALSE(IsStructuralDiagnostic(text)) << text;
  }
}

}  // namespace
}  // namespace hone
