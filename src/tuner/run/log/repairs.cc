// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/repairs.h"

#include <fmt/format.h>

#include <vector>

namespace hone {

RepairCount& RepairCount::operator+=(const RepairCount& other) {
  for (const auto& [problem, count] : other.replies) {
    replies[problem].told += count.told;
    replies[problem].mended += count.mended;
  }
  judged += other.judged;
  right += other.right;
  failures += other.failures;
  repaired += other.repaired;
  return *this;
}

RepairCount CountRepairs(const RunView& view) {
  RepairCount count;
  const auto nodes = static_cast<int64_t>(view.nodes.size());
  for (const Memo& memo : view.memos) {
    if (memo.kind != "problem" || memo.node < 0 || memo.node >= nodes) continue;
    RepairCount::Replies& replies = count.replies[memo.problem];
    ++replies.told;
    // The repair was usable if it became a memo of the same turn, or the attempt's version. The tester's
    // replies belong to node 0; its second unusable reply is a memo of kind "cases" without cases, with the problem.
    const RunNode& node = view.node(memo.node);
    bool repaired_later = node.id > 0 && !node.source_hash.empty();
    for (const Memo& other : view.memos)
      repaired_later =
          repaired_later ||
          (other.node == memo.node && other.turn == memo.turn && other.kind != "problem" && other.problem.empty());
    replies.mended += repaired_later;
  }
  // For each incorrect version, the node with which its failure began: itself or, if it was made from an incorrect
  // version, the node with which that one's began. -1: the version is correct.
  std::vector<int64_t> failure(view.nodes.size(), -1);
  std::vector<bool> repaired(view.nodes.size(), false);
  for (const RunNode& node : view.nodes) {
    if (node.id == 0 || !node.evaluation || node.origin != "reply") continue;
    const bool ok = node.evaluation->verdict == Verdict::kOk;
    ++count.judged;
    count.right += ok;
    const int64_t inherited = node.parent >= 0 && node.parent < node.id ? failure[static_cast<size_t>(node.parent)] : -1;
    if (ok && inherited >= 0 && !repaired[static_cast<size_t>(inherited)]) {
      repaired[static_cast<size_t>(inherited)] = true;
      ++count.repaired;
    }
    if (ok) continue;
    failure[static_cast<size_t>(node.id)] = inherited >= 0 ? inherited : node.id;
    count.failures += inherited < 0;
  }
  return count;
}

std::string RepairText(const RepairCount& count) {
  if (count.judged == 0) return "";
  std::string text = fmt::format("{} of {} judged versions right", count.right, count.judged);
  if (count.failures > 0) {
    text += fmt::format("; {} of {} failure{} repaired ({:.0f} %)", count.repaired, count.failures,
                        count.failures == 1 ? "" : "s", 100 * count.repair_rate());
  }
  return text;
}

std::string RefusedText(const RepairCount& count) {
  std::string text;
  for (const auto& [problem, replies] : count.replies) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", problem, replies.told);
    if (replies.mended > 0) text += fmt::format(" ({} mended)", replies.mended);
  }
  return text;
}

}  // namespace hone
