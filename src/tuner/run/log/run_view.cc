// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/tuner/run_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone {

const Memo* RunView::FindMemo(int64_t node, std::string_view kind) const {
  for (auto it = memos.rbegin(); it != memos.rend(); ++it) {
    if (it->node == node && it->kind == kind) return &*it;
  }
  return nullptr;
}

bool RunView::CasesFrozen() const {
  return std::none_of(cases.begin(), cases.end(), [](const ProposedCase& c) { return c.state == "proposed"; });
}

int64_t KnownFor(const RunView& view) {
  const RunOptions& options = view.options;
  const int64_t parallel = std::max<int64_t>(options.parallel, 1);
  // The nodes that the first attempts wait for: none, the seed, or the seed and its sweep.
  int64_t first = options.blind_start ? 0 : 1;
  // Attempts start from the seed's best binding, so they wait for the sweep that finds it. With rounds on a spool,
  // waiting would cost an additional submission to the device, so the first round does not wait.
  const bool waits = options.sweep_seed && !(options.rounds && options.device.starts_with("spool:"));
  if (first == 1 && waits && view.nodes.size() > 1 && view.node(1).origin == "sweep" && view.node(1).parent == 0) {
    first = 2;
  }
  const auto next_node = static_cast<int64_t>(view.nodes.size());
  if (!options.rounds) return std::max(next_node - parallel + 1, first);
  std::vector<int64_t> attempts;
  for (const RunNode& node : view.nodes) {
    if (node.origin == "reply") attempts.push_back(node.id);
  }
  // With rounds, a decision may use the whole rounds of attempts that are opened.
  const size_t in_whole_rounds = attempts.size() / static_cast<size_t>(parallel) * static_cast<size_t>(parallel);
  return in_whole_rounds == 0 ? first : attempts[in_whole_rounds - 1] + 1;
}

std::string TargetOf(const RunView& view, int64_t node) {
  const bool without_cute = view.options.target == "any" && view.no_cute_from >= 0 && node >= view.no_cute_from;
  return without_cute ? "cuda" : view.options.target;
}

std::string NodeFileName(const RunView& view, int64_t node) {
  if (node > 0) return fmt::format("node-{}.cu", node);
  return view.from_module ? "reference.py" : view.from_oracle ? "reference.cu" : "seed.cu";
}

std::string StartName(const RunView& view) {
  return view.from_module ? "the module in PyTorch (eager)" : view.from_oracle ? "the oracle's kernel" : "the seed";
}

std::string NodesText(const RunView& view) {
  if (view.nodes.empty()) return fmt::format("run {} has no nodes", view.info.id);
  if (view.nodes.size() == 1) return fmt::format("run {} has node 0 alone", view.info.id);
  return fmt::format("run {} has nodes 0 to {}", view.info.id, view.nodes.size() - 1);
}

}  // namespace hone
