// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/refine.h"

#include <fmt/format.h>

#include "tuner/strategies/chains.h"
#include "tuner/strategies/limits.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

class RefineStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "refine"; }
  std::vector<std::string> Roles() const override { return {"coder", "debugger"}; }

  std::optional<Action> Next(const Knowledge& run) const override {
    const RunOptions& o = run.options();
    if (run.view().seed_broken) return Close(run, "seed_broken");
    if (const std::string stop = StopReason(run); !stop.empty()) return Close(run, stop);
    const int64_t fixes = WholeSettingOf(o, "refine.fixes"), depth = WholeSettingOf(o, "refine.depth");
    const std::vector<Chain> chains = Chains(run);
    const int64_t steps = StepsDone(chains, fixes, WholeSettingOf(o, "refine.regenerations")) / std::max<int64_t>(o.parallel, 1);
    if (depth > 0 && steps >= depth) return Close(run, "depth_reached");
    if (const std::optional<SweepAction> sweep = DueSweep(run)) return *sweep;

    if (std::optional<AttemptAction> repair = DueRepair(run, chains, fixes,
                                                        {{"debugger", "refine_diagnose", o.temperature, /*profile=*/false, /*ledger=*/false, {}},
                                                         {"coder", "refine_patch", o.temperature, /*profile=*/false, /*ledger=*/false, {}}})) {
      return *std::move(repair);
    }

    const bool profile = ProfileFromStart(run) || steps + 1 > ProfileStart(run);
    AttemptAction attempt;
    attempt.incumbent = run.best();
    const std::optional<int64_t> base = BaseOfStep(run);
    if (!base) return FirstVersion(run);
    attempt.parent = *base;
    attempt.turns = {{"coder", "refine_optimise", o.temperature, profile, /*ledger=*/true, {}}};
    attempt.note = fmt::format("step {}{}", steps + 1, profile ? "" : ", profile withheld");
    return attempt;
  }

 private:
  // Returns the version from which a step starts; nullopt: one must be written first.
  static std::optional<int64_t> BaseOfStep(const Knowledge& run) {
    const bool generate = WholeSettingOf(run.options(), "refine.generate") != 0 || run.view().from_oracle || !InTarget(run, 0);
    const bool from_best = WholeSettingOf(run.options(), "refine.from_best") != 0;
    if (!generate && from_best) return run.best();
    int64_t parent = generate ? -1 : 0;
    for (int64_t id = 1; id < run.known(); ++id) {
      const RunNode& node = run.node(id);
      if (!Right(node) || node.rejected) continue;
      // The result of the seed's sweep is the seed's code, and no version written from the reference.
      if (generate && run.options().sweep_seed && node.origin == "sweep" && node.parent == 0) continue;
      if (!InTarget(run, id)) continue;
      if (from_best && parent > 0 && node.speedup.value_or(0) <= run.node(parent).speedup.value_or(0)) continue;
      parent = id;
    }
    return parent < 0 ? std::nullopt : std::optional(parent);
  }

  // Returns whether prompts show profiles from the first step on. In logs up to version 4 they did not by default.
  static bool ProfileFromStart(const Knowledge& run) {
    const std::string name = "refine.profile_from_start";
    if (run.view().version < 5 && !run.options().settings.contains(name)) return false;
    return WholeSettingOf(run.options(), name) != 0;
  }

  // Returns the number of first steps without a profile, for the task's class.
  static int64_t ProfileStart(const Knowledge& run) {
    const std::string name = "refine.profile_start." + run.view().workload;
    for (const Setting& setting : AllSettings()) {
      if (setting.name == name) return WholeSettingOf(run.options(), name);
    }
    return WholeSettingOf(run.options(), "refine.profile_start.other");
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeRefineStrategy() { return std::make_unique<RefineStrategy>(); }

}  // namespace hone
