// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/agent.h"

#include <fmt/format.h>

#include "tuner/strategies/limits.h"

namespace hone {
namespace {

class AgentStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "agent"; }
  std::vector<std::string> Roles() const override { return {"agent"}; }

  std::optional<Action> Next(const Knowledge& run) const override {
    if (run.view().seed_broken) return Close(run, "seed_broken");
    if (const std::string stop = StopReason(run); !stop.empty()) return Close(run, stop);
    // An agent works on one version at a time, whatever --parallel says: waits until everything is settled.
    if (!run.all_known()) return std::nullopt;
    if (const std::optional<SweepAction> sweep = DueSweep(run)) return *sweep;
    // Find the agent's last version, on which the request gives the verdict.
    int64_t last = 0, handed_in = 0;
    for (int64_t id = 1; id < run.known(); ++id) {
      const RunNode& node = run.node(id);
      handed_in += node.origin == "reply";
      if (node.origin == "reply" && node.evaluation) last = id;
    }
    AttemptAction attempt;
    attempt.parent = last;
    attempt.incumbent = run.best();
    if (NeedsFirstVersion(run)) attempt.purpose = "generate";
    attempt.turns = {{"agent", "agent", run.options().temperature, /*profile=*/true, /*ledger=*/true, {}}};
    attempt.note = fmt::format("version {}", handed_in + 1);
    return attempt;
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeAgentStrategy() { return std::make_unique<AgentStrategy>(); }

}  // namespace hone
