// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/baselines.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/strategies/limits.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

class SampleStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "sample"; }
  std::vector<std::string> Roles() const override { return {"coder"}; }

  std::optional<Action> Next(const Knowledge& run) const override {
    if (run.view().seed_broken) return Close(run, "seed_broken");
    if (const std::string stop = StopReason(run); !stop.empty()) return Close(run, stop);
    AttemptAction attempt;
    attempt.incumbent = run.best();
    attempt.turns = {
        {"coder", "sample", SettingOf(run.options(), "sample.temperature"), /*profile=*/false, /*ledger=*/false, {}}};
    attempt.note = "a sample";
    return attempt;
  }
};

class ReflexionStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "reflexion"; }
  std::vector<std::string> Roles() const override { return {"coder"}; }

  std::optional<Action> Next(const Knowledge& run) const override {
    if (run.view().seed_broken) return Close(run, "seed_broken");
    if (const std::string stop = StopReason(run); !stop.empty()) return Close(run, stop);
    // Start from the newest judged version. With several attempts in flight, start from the one that comes as many
    // before it as there are attempts in flight, so that each starts from another version.
    const int64_t lag = run.opened() - run.known();
    int64_t last = 0, newer = 0;  // newer: judged versions after `last`
    for (int64_t id = run.known() - 1; id > 0; --id) {
      const RunNode& node = run.node(id);
      if (node.origin != "reply" || !node.evaluation) continue;
      last = id;
      if (newer++ == lag) break;
    }
    AttemptAction attempt;
    attempt.parent = last;
    attempt.incumbent = run.best();
    if (last == 0 && NeedsFirstVersion(run)) return FirstVersion(run);
    if (last != 0 && IsIncorrect(run.node(last))) attempt.purpose = "debug";
    Turn turn{"coder", "reflexion", run.options().temperature, /*profile=*/true, /*ledger=*/true, {}};
    if (run.best() != last) turn.shown = {run.best()};
    attempt.turns = {std::move(turn)};
    attempt.note = fmt::format("goes on from node {}", last);
    return attempt;
  }
};

class SingleStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "single"; }
  std::vector<std::string> Roles() const override { return {"coder"}; }

  std::optional<Action> Next(const Knowledge& run) const override {
    const RunOptions& o = run.options();
    if (run.view().seed_broken) return Close(run, "seed_broken");
    if (const std::string stop = StopReason(run); !stop.empty()) return Close(run, stop);
    const int64_t rounds = WholeSettingOf(o, "single.rounds");
    int64_t done = 0;
    for (int64_t id = 1; id < run.opened(); ++id) done += run.node(id).origin == "reply";
    if (rounds > 0 && done >= rounds * std::max<int64_t>(o.parallel, 1)) return Close(run, "rounds_done");
    if (const std::optional<SweepAction> sweep = DueSweep(run)) return *sweep;
    if (NeedsFirstVersion(run)) return FirstVersion(run);
    return CoderAttempt(run, BestInTarget(run), "single", fmt::format("round {}", done + 1));
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeSampleStrategy() { return std::make_unique<SampleStrategy>(); }
std::unique_ptr<Strategy> MakeReflexionStrategy() { return std::make_unique<ReflexionStrategy>(); }
std::unique_ptr<Strategy> MakeSingleStrategy() { return std::make_unique<SingleStrategy>(); }

}  // namespace hone
