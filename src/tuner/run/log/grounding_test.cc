// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that misquoted plans and coders that leave their plan's spans are counted, in first replies and in repairs.
#include "tuner/run/log/grounding.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Returns an attempt whose coder is bound to its plan's spans. `problem`: what was wrong with its last reply, the reply to
// turn `turn`; empty: nothing.
RunNode Attempt(int64_t id, int turn, const std::string& problem) {
  RunNode node;
  node.id = id;
  node.parent = 0;
  node.origin = "reply";
  node.turns = {{.role = "planner", .prompt = "tree_plan", .bound = true},
                {.role = "coder", .prompt = "tree_code", .bound = true}};
  node.request = RequestNumber(id, turn, /*repair=*/false);
  node.state = problem.empty() ? NodeState::kEvaluated : NodeState::kUnusable;
  node.problem = problem;
  return node;
}
Memo MemoOf(int64_t node, int turn, const std::string& kind, const std::string& problem = "") {
  Memo memo;
  memo.node = node;
  memo.turn = turn;
  memo.kind = kind;
  memo.problem = problem;
  return memo;
}

TEST(Grounding, CountsPlansAndAnswersWithTheirRepairs) {
  RunView view;
  view.nodes.resize(1);
  view.nodes.push_back(Attempt(1, 1, ""));                   // left its spans first, then requested a region
  view.nodes.push_back(Attempt(2, 1, "outside_plan"));       // left its spans twice
  view.nodes.push_back(Attempt(3, 0, "anchor_not_unique"));  // ended with the planner
  view.nodes.push_back(Attempt(4, 1, "search_not_found"));
  view.nodes.push_back(Attempt(5, 1, ""));
  for (Turn& turn : view.nodes[5].turns) turn.bound = false;
  view.nodes[1].widened = {"plan"};
  view.memos = {MemoOf(1, 0, "problem", "anchor_not_found"),
                MemoOf(1, 0, "plan"),
                MemoOf(1, 1, "problem", "outside_plan"),
                MemoOf(2, 0, "plan"),
                MemoOf(2, 1, "problem", "outside_plan"),
                MemoOf(3, 0, "problem", "no_region"),
                MemoOf(4, 0, "plan"),
                MemoOf(5, 0, "plan"),
                MemoOf(5, 1, "problem", "outside_plan")};
  const GroundingCount count = CountGrounding(view);
  EXPECT_EQ(count.plans, 6);  // two of node 1, one of node 2, two of node 3, one of node 4
  EXPECT_EQ(count.misquoted, 3);
  EXPECT_EQ(count.codes, 5);
  EXPECT_EQ(count.outside, 3);
  EXPECT_EQ(count.widened, 1);
  EXPECT_EQ(GroundingText(count),
            "3 of 6 plans misquoted; 3 of 5 answers left their plan's spans (60.0 %), 1 asked for more");
  EXPECT_FALSE(CountGrounding(RunView()).any());
}

}  // namespace
}  // namespace hone
