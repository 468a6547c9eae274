// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/team.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/strategies/chains.h"
#include "tuner/strategies/limits.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

class TeamStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "team"; }
  std::vector<std::string> Roles() const override { return {"planner", "coder", "tester", "analyst"}; }

  std::optional<Action> Next(const Knowledge& run) const override {
    const RunOptions& o = run.options();
    const RunView& view = run.view();
    if (view.seed_broken) return Close(run, "seed_broken");
    if (const std::string stop = StopReason(run); !stop.empty()) return Close(run, stop);
    if (WholeSettingOf(o, "team.cases") > 0) {
      if (!view.cases_asked)
        return CasesAction{{"tester", "team_test", o.temperature, /*profile=*/false, /*ledger=*/false, {}}};
      // With blind_start, the first round is planned while the cases are vetted. It is judged after that.
      if (!o.blind_start && !(view.cases_read && view.CasesFrozen())) return std::nullopt;
    }
    const int64_t fixes = WholeSettingOf(o, "team.fixes"), rounds = WholeSettingOf(o, "team.rounds");
    const std::vector<Chain> chains = Chains(run);
    const int64_t rounds_done = StepsDone(chains, fixes, /*generations=*/1) / std::max<int64_t>(o.parallel, 1);
    if (rounds > 0 && rounds_done >= rounds) return Close(run, "rounds_done");
    if (const std::optional<SweepAction> sweep = DueSweep(run)) return *sweep;

    if (std::optional<AttemptAction> repair = DueRepair(run, chains, fixes, {FixTurn(run)})) return *std::move(repair);
    if (NeedsFirstVersion(run)) return FirstVersion(run);
    AttemptAction attempt;
    attempt.incumbent = run.best();
    attempt.parent = BestInTarget(run);
    // The analyst reads the version's evaluation, which must be known.
    if (WholeSettingOf(o, "team.analyst") != 0 && run.known() > 0) {
      attempt.turns.push_back({"analyst", "team_profile", o.temperature, /*profile=*/true, /*ledger=*/true, {}});
    }
    attempt.turns.push_back({"planner", "team_plan", o.temperature, /*profile=*/true, /*ledger=*/true, {}});
    attempt.turns.push_back({"coder", "team_code", o.temperature, /*profile=*/true, /*ledger=*/false, {}});
    attempt.note = fmt::format("round {}", rounds_done + 1);
    return attempt;
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeTeamStrategy() { return std::make_unique<TeamStrategy>(); }

}  // namespace hone
