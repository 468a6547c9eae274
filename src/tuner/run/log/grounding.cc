// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/grounding.h"

#include <fmt/format.h>

namespace hone {
namespace {

// Returns whether a reply's problem is that it names a place that does not exist or is ambiguous.
bool IsMisquoted(const std::string& problem) {
  return problem == "anchor_not_found" || problem == "anchor_not_unique" || problem == "no_region" ||
         problem == "unknown_region";
}

}  // namespace

GroundingCount CountGrounding(const RunView& view) {
  GroundingCount count;
  // Counts one reply, if its turn was bound to a plan's spans.
  const auto add = [&](const RunNode& node, int64_t turn, const std::string& problem,
                       const std::vector<std::string>& widened) {
    if (turn < 0 || turn >= static_cast<int64_t>(node.turns.size())) return;
    const Turn& asking_turn = node.turns[static_cast<size_t>(turn)];
    if (!asking_turn.bound) return;
    if (asking_turn.role == "planner") {
      ++count.plans;
      count.misquoted += IsMisquoted(problem);
    } else {
      ++count.codes;
      count.outside += problem == "outside_plan" || problem == "too_wide";
      count.widened += problem.empty() && !widened.empty();
    }
  };
  for (const Memo& memo : view.memos) {
    if (memo.node < 1 || memo.node >= static_cast<int64_t>(view.nodes.size())) continue;
    if (memo.kind == "problem" || memo.kind == "plan") add(view.node(memo.node), memo.turn, memo.problem, {});
  }
  // The last reply of each attempt. RequestNumber is undone to find its turn.
  for (const RunNode& node : view.nodes) {
    if (node.origin != "reply" || node.state == NodeState::kOpen || node.request < 0) continue;
    if (node.problem == "no_more_ideas" || node.problem == "not_asked") continue;
    add(node, node.request % (2 * kMaxTurns) / 2, node.problem, node.widened);
  }
  return count;
}

std::string GroundingText(const GroundingCount& count) {
  const std::string plans = fmt::format("{} of {} plans misquoted", count.misquoted, count.plans);
  if (count.codes == 0) return plans;
  return plans + fmt::format("; {} of {} answers left their plan's spans ({:.1f} %), {} asked for more", count.outside, count.codes,
                             100.0 * static_cast<double>(count.outside) / static_cast<double>(count.codes), count.widened);
}

}  // namespace hone
