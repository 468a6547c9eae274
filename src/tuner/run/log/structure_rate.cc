// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/structure_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hone {
namespace {

// Problems of replies that are faults of form.
constexpr std::string_view kProblems[] = {
    "search_not_found", "search_not_unique",   "search_empty",         "edits_overlap", "unknown_region",
    "region_twice",     "several_files",       "unclosed_block",       "no_plan",       "plan_rejected",
    "kernel_missing",   "unbalanced_brackets", "duplicate_definition"};

// Texts by which a compiler's error about structure is recognised.
constexpr std::string_view kDiagnostics[] = {
    // The errors of g++ that concern structure.
    "at end of input", "expected '}'", "expected declaration", "expected unqualified-id", "redefinition of",
    "stray '", "unterminated", "a function-definition is not allowed here", "conflicting declaration",
    // These are the texts of the same errors by NVRTC and nvcc.
    "expected a \"}\"", "expected a declaration", "has already been defined", "has already been declared",
    "this declaration has no storage class", "unrecognized token", "missing closing quote", "#endif"};

}  // namespace

bool IsStructuralProblem(std::string_view problem) {
  return std::find(std::begin(kProblems), std::end(kProblems), problem) != std::end(kProblems);
}

bool IsStructuralDiagnostic(std::string_view text) {
  const size_t error = text.find("error");
  // Looks at the first error only, since later ones often follow from it.
  const size_t begin = error == std::string_view::npos ? 0 : text.rfind('\n', error) + 1;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return std::any_of(std::begin(kDiagnostics), std::end(kDiagnostics),
                     [&](std::string_view sign) { return line.find(sign) != std::string_view::npos; });
}

StructureCount CountStructure(const RunView& view) {
  StructureCount count;
  for (const Memo& memo : view.memos) {
    // Counts the replies after which a repair was asked for. Replies of planners and testers are no candidates.
    if (memo.kind != "problem" || memo.node < 1 || memo.node >= static_cast<int64_t>(view.nodes.size())) continue;
    if (memo.turn + 1 != static_cast<int>(view.node(memo.node).turns.size())) continue;
    ++count.replies;
    count.not_applied += IsStructuralProblem(memo.problem);
  }
  for (const RunNode& node : view.nodes) {
    if (node.origin != "reply" || node.state == NodeState::kOpen || node.request < 0) continue;
    if (node.problem == "no_more_ideas" || node.problem == "not_asked") continue;
    const int64_t turn = node.request % (2 * kMaxTurns) / 2;
    if (!node.turns.empty() && turn + 1 != static_cast<int64_t>(node.turns.size())) continue;  // ended with the planner
    ++count.replies;
    if (node.state == NodeState::kUnusable) {
      count.not_applied += IsStructuralProblem(node.problem);
    } else if (node.evaluation) {
      const Verdict verdict = node.evaluation->verdict;
      count.broken += verdict == Verdict::kParseError ||
                      (verdict == Verdict::kCompileError && IsStructuralDiagnostic(node.evaluation->detail));
    }
  }
  return count;
}

std::string StructureText(const StructureCount& count) {
  if (count.replies == 0) return "no replies";
  return fmt::format("{} of {} replies ({:.1f} %)", count.failed(), count.replies, 100 * count.rate());
}

}  // namespace hone
