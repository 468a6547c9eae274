// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/reckon.h"

#include <fmt/format.h>

#include "tuner/strategies/chains.h"
#include "tuner/strategies/limits.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

// Counts the known attempts, repairs included, since the last node that was kept and the last attempt that designed the
// kernel anew. Attempts under way may still gain, so they do not count.
int64_t AttemptsWithoutGain(const Knowledge& run) {
  int64_t count = 0;
  for (int64_t id = 1; id < run.opened(); ++id) {
    const RunNode& node = run.node(id);
    const bool anew = !node.turns.empty() && node.turns.front().prompt == kReckonAnewPrompt;
    if (anew || (run.IsKnown(id) && node.kept)) {
      count = 0;
    } else if (run.IsKnown(id) && !node.turns.empty()) {
      ++count;
    }
  }
  return count;
}

class ReckonStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "reckon"; }
  std::vector<std::string> Roles() const override { return {"coder"}; }

  std::optional<Action> Next(const Knowledge& run) const override {
    if (run.view().seed_broken) return Close(run, "seed_broken");
    if (const std::string stop = StopReason(run); !stop.empty()) return Close(run, stop);
    if (const std::optional<SweepAction> sweep = DueSweep(run)) return *sweep;
    if (std::optional<AttemptAction> repair = DueRepair(run, Chains(run), WholeSettingOf(run.options(), "reckon.fixes"), {FixTurn(run)})) return *std::move(repair);
    if (NeedsFirstVersion(run)) return Anew(run, "the first design");
    const int64_t patience = WholeSettingOf(run.options(), "reckon.patience");
    if (const int64_t without = AttemptsWithoutGain(run); patience > 0 && without >= patience) {
      return Anew(run, fmt::format("a new design: no gain in {} attempts", without));
    }
    return CoderAttempt(run, BestInTarget(run), kReckonPrompt, "goes on from the best");
  }

 private:
  static AttemptAction Anew(const Knowledge& run, std::string note) {
    AttemptAction attempt = CoderAttempt(run, 0, kReckonAnewPrompt, std::move(note));
    attempt.purpose = "generate";
    attempt.turns.front().profile = false;
    return attempt;
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeReckonStrategy() { return std::make_unique<ReckonStrategy>(); }

}  // namespace hone
