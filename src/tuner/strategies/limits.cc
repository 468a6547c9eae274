// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/limits.h"

#include <algorithm>

namespace hone {
namespace {

bool IsSwept(const RunView& view, int64_t node) {
  return std::find(view.swept.begin(), view.swept.end(), node) != view.swept.end();
}

}  // namespace

bool AtFloor(const Evaluation& evaluation, double fraction) {
  if (!(fraction > 0)) return false;
  bool any_timed = false;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us) continue;
    if (!c.floor_fraction || *c.floor_fraction < fraction || FloorIsWrong(c)) return false;
    any_timed = true;
  }
  return any_timed;
}

std::string BudgetSpent(const RunView& view) {
  const RunOptions& o = view.options;
  if (o.max_seconds > 0 && view.seconds >= 0.75 * o.max_seconds) return "time_spent";
  if (o.max_tokens > 0 && view.usage.input + view.usage.output >= o.max_tokens) return "tokens_spent";
  if (o.max_cost_usd > 0 && view.cost_usd >= o.max_cost_usd) return "money_spent";
  // A limit in dollars can be kept only if every reply has a price.
  if (o.max_cost_usd > 0 && view.unpriced_replies > 0) return "cost_unknown";
  return "";
}

std::string StopReason(const Knowledge& run) {
  const RunOptions& o = run.options();
  if (run.known() > 0) {
    // If the target is CuTe, a start in plain CUDA may have reached the floor although no version in CuTe exists. That
    // does not end the run; in logs up to version 6 it did.
    const int64_t id = run.view().version >= 7 ? BestInTarget(run) : run.best();
    const RunNode& best = run.node(id);
    const bool may_end_run = run.view().version < 7 || InTarget(run, id);
    if (may_end_run && best.evaluation && AtFloor(*best.evaluation, o.floor_fraction)) return "floor_reached";
  }
  int64_t attempts = 0;
  for (int64_t id = 1; id < run.opened(); ++id) {
    attempts += run.node(id).origin == "reply";
    if (run.IsKnown(id) && run.node(id).problem == "no_more_ideas") return "no_more_ideas";
  }
  if (o.max_attempts > 0 && attempts >= o.max_attempts) return "attempts_spent";
  return BudgetSpent(run.view());
}

std::optional<SweepAction> DueSweep(const Knowledge& run) {
  if (run.options().max_sweep_points < 1) return std::nullopt;
  if (run.opened() == 1 && run.node(0).bindings > 1 && !IsSwept(run.view(), 0)) {
    // If evaluations are submitted in batches, the seed's sweep is part of the first batch, to save one at the end.
    // Otherwise it waits until the seed is known to be correct.
    const RunOptions& o = run.options();
    if (o.rounds || (o.sweep_seed && !o.blind_start && run.known() > 0)) return SweepAction{0, 0};
  }
  // Only the newest versions are looked at: a version that was passed over once is not swept much later.
  for (int64_t id = std::max<int64_t>(1, run.known() - 2 * run.options().parallel); id < run.known(); ++id) {
    const RunNode& node = run.node(id);
    if (node.origin != "reply" || !Right(node) || node.kept || node.bindings < 2 || IsSwept(run.view(), id)) continue;
    if (node.bindings > run.node(node.parent).bindings) return SweepAction{id, run.best()};
  }
  return std::nullopt;
}

std::optional<Action> Close(const Knowledge& run, const std::string& reason) {
  if (!run.all_known()) return std::nullopt;
  const RunView& view = run.view();
  const RunNode& best = view.node(view.best);
  const bool time_left = view.options.max_seconds <= 0 || view.seconds < view.options.max_seconds;
  if (best.bindings > 1 && !IsSwept(view, best.id) && time_left && reason != "floor_reached" &&
      view.options.max_sweep_points > 0) {
    return SweepAction{best.id, best.id};
  }
  // If the best is the seed, there is nothing to evaluate against it.
  if (view.best != 0 && (!view.final_result || view.final_result->node != view.best)) return FinalAction{view.best};
  return FinishAction{reason};
}

bool NeedsFirstVersion(const Knowledge& run) {
  if (!run.view().from_oracle && InTarget(run, 0)) return false;
  for (int64_t id = 1; id < run.known(); ++id) {
    if (run.node(id).origin == "reply" && Right(run.node(id)) && !run.node(id).rejected) return false;
  }
  return true;
}

AttemptAction FirstVersion(const Knowledge& run) {
  AttemptAction attempt;
  attempt.incumbent = run.best();
  attempt.purpose = "generate";
  attempt.turns = {{"coder", "refine_generate", run.options().temperature, /*profile=*/false, /*ledger=*/true, {}}};
  attempt.note = run.options().target == "cute" ? "first version, in CuTe" : "first version, from the oracle";
  return attempt;
}

AttemptAction CoderAttempt(const Knowledge& run, int64_t parent, const char* prompt, std::string note) {
  AttemptAction attempt;
  attempt.parent = parent;
  attempt.incumbent = run.best();
  attempt.turns = {{"coder", prompt, run.options().temperature, /*profile=*/true, /*ledger=*/true, {}}};
  attempt.note = std::move(note);
  return attempt;
}

Turn FixTurn(const Knowledge& run) {
  return {"coder", "team_fix", run.options().temperature, /*profile=*/false, /*ledger=*/false, {}};
}

bool InTarget(const Knowledge& run, int64_t id) {
  // A reply that is not in the target is refused, so that only the start and its sweeps may be outside the target.
  while (id > 0 && run.node(id).origin == "sweep") id = run.node(id).parent;
  // A run that starts from a PyTorch module never goes on from it, also while it is faster than every version.
  if (id == 0 && run.view().from_module) return false;
  return run.options().target != "cute" || id > 0 || run.view().start_uses_cute;
}

int64_t BestInTarget(const Knowledge& run) {
  if (InTarget(run, run.best())) return run.best();
  int64_t best_in_target = run.best();  // replaced by the first version that is in the target
  for (int64_t id = 1; id < run.known(); ++id) {
    const RunNode& node = run.node(id);
    if (!Right(node) || node.rejected || !InTarget(run, id)) continue;
    if (best_in_target == run.best() || node.speedup.value_or(0) > run.node(best_in_target).speedup.value_or(0))
      best_in_target = id;
  }
  return best_in_target;
}

Rng DrawsFor(const RunOptions& options, int64_t node) {
  return Rng(options.seed).Split(0x686f6e65).Split(static_cast<uint64_t>(node));
}

}  // namespace hone
