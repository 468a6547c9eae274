// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/refine.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/strategies/limits.h"

namespace hone {
namespace {

class RefineStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "refine"; }

  std::vector<Action> Next(const RunView& view, int) const override {
    // One evolving kernel: nothing runs side by side.
    const RunNode& seed = view.node(0);
    if (!seed.evaluation) return {EvaluateAction{0, -1}};
    if (view.seed_broken) return {FinishAction{"seed_broken"}};
    for (const RunNode& node : view.nodes) {
      if (node.state == NodeState::kProposed) return {EvaluateAction{node.id, view.best}};
    }
    const std::string stop = StopReason(view);
    if (stop.empty()) {
      // New choices are judged by their best, not by their first: a block size made tunable changes nothing by itself.
      const RunNode& last = view.nodes.back();
      if (last.origin == "reply" && last.evaluation && last.evaluation->verdict == Verdict::kOk && !last.kept &&
          last.bindings > view.node(last.parent).bindings && !Swept(view, last.id)) {
        return {SweepAction{last.id}};
      }
      return {AskAction{view.best, "coder", view.options.temperature}};
    }
    const RunNode& best = view.node(view.best);
    const bool time_left = view.options.max_seconds <= 0 || view.seconds < view.options.max_seconds;
    if (best.bindings > 1 && !Swept(view, best.id) && time_left && stop != "floor_reached")
      return {SweepAction{best.id}};
    // The seed needs no second look at itself.
    if (view.best != 0 && (!view.final_result || view.final_result->node != view.best)) return {FinalAction{view.best}};
    return {FinishAction{stop}};
  }

 private:
  static bool Swept(const RunView& view, int64_t node) {
    return std::find(view.swept.begin(), view.swept.end(), node) != view.swept.end();
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeRefineStrategy() { return std::make_unique<RefineStrategy>(); }

Result<std::unique_ptr<Strategy>> MakeStrategy(std::string_view name) {
  if (name == "refine") return MakeRefineStrategy();
  return Status::InvalidArgument(fmt::format("there is no strategy '{}'; there is refine", name));
}

}  // namespace hone
