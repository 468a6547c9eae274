// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/funnel.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tuner/strategies/chains.h"
#include "tuner/strategies/limits.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

// Returns whether the node's first turn uses this prompt.
bool AskedBy(const RunNode& node, std::string_view prompt) {
  return !node.turns.empty() && node.turns.front().prompt == prompt;
}

// Returns whether attempts may start from a version.
bool CanStartFrom(const Knowledge& run, int64_t id) {
  const RunNode& node = run.node(id);
  return Right(node) && !node.rejected && InTarget(run, id);
}

// Returns the version from which all directions start: the seed, or the first version written in its place, or the
// result of its sweep if that is faster.
int64_t StartingVersion(const Knowledge& run) {
  int64_t start = 0;
  if (run.view().from_oracle || !InTarget(run, 0)) {
    for (int64_t id = 1; id < run.known() && start == 0; ++id) {
      if (run.node(id).origin == "reply" && CanStartFrom(run, id)) start = id;
    }
  }
  int64_t best = start;
  for (int64_t id = 1; id < run.known(); ++id) {
    const RunNode& node = run.node(id);
    if (node.origin == "sweep" && node.parent == start && node.kept && CanStartFrom(run, id)) best = id;
  }
  return best;
}

// A line: a direction's first version and all versions developed from it.
struct Line {
  int64_t first = 0, leader = 0;  // leader: the fastest version
  double speedup = 0;             // of the leader over node 0
};

// Returns the lines with a correct version, sorted by their leaders' speedups, the fastest first; of equal ones, the
// older first.
std::vector<Line> Lines(const Knowledge& run) {
  std::vector<Line> lines;
  for (int64_t id = 1; id < run.known(); ++id) {
    const RunNode& node = run.node(id);
    if (!CanStartFrom(run, id) || !node.speedup) continue;
    int64_t first = id;
    // Go back to the attempt that took this direction.
    while (first > 0 && !AskedBy(run.node(first), kWidePrompt)) first = run.node(first).parent;
    if (first <= 0) continue;
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.first == first; });
    if (line == lines.end()) line = lines.insert(lines.end(), {first, id, 0});
    if (*node.speedup > line->speedup) {
      line->leader = id;
      line->speedup = *node.speedup;
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.speedup > b.speedup; });
  return lines;
}

// Returns the sweep of a correct version whose tunables were not tried yet, since attempts should start from its best
// binding; nullopt: none is due.
std::optional<SweepAction> SweepOfOpenChoices(const Knowledge& run) {
  if (run.options().max_sweep_points < 1 || WholeSettingOf(run.options(), "funnel.sweep") == 0) return std::nullopt;
  const std::vector<int64_t>& swept = run.view().swept;
  // Only the newest versions are looked at: a version that was passed over once is not swept much later.
  for (int64_t id = std::max<int64_t>(1, run.known() - 2 * run.options().parallel); id < run.known(); ++id) {
    const RunNode& node = run.node(id);
    if (node.origin != "reply" || node.bindings < 2 || !CanStartFrom(run, id)) continue;
    if (std::find(swept.begin(), swept.end(), id) != swept.end()) continue;
    return SweepAction{id, run.best()};
  }
  return std::nullopt;
}

class FunnelStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "funnel"; }
  std::vector<std::string> Roles() const override { return {"coder"}; }

  std::optional<Action> Next(const Knowledge& run) const override {
    const RunOptions& o = run.options();
    if (run.view().seed_broken) return Close(run, "seed_broken");
    if (const std::string stop = StopReason(run); !stop.empty()) return Close(run, stop);
    if (const std::optional<SweepAction> sweep = DueSweep(run)) return *sweep;
    if (const std::optional<SweepAction> sweep = SweepOfOpenChoices(run)) return *sweep;
    if (std::optional<AttemptAction> repair = DueRepair(run, Chains(run), WholeSettingOf(o, "funnel.fixes"), {FixTurn(run)})) return *std::move(repair);
    if (NeedsFirstVersion(run)) return FirstVersion(run);

    // The attempts so far that took a new direction, that developed a line, and that came since the last gain.
    int64_t wide = 0, deep = 0, since_gain = 0;
    for (int64_t id = 1; id < run.opened(); ++id) {
      const RunNode& node = run.node(id);
      const bool is_wide = AskedBy(node, kWidePrompt);
      wide += is_wide;
      deep += AskedBy(node, "funnel_deep") || AskedBy(node, "funnel_cross");
      // A new direction counts like a gain.
      if (is_wide || (run.IsKnown(id) && node.kept)) {
        since_gain = 0;
      } else if (!node.turns.empty()) {
        ++since_gain;
      }
    }
    const int64_t first_wide = WholeSettingOf(o, "funnel.wide"), patience = WholeSettingOf(o, "funnel.patience");
    if (wide < first_wide)
      return CoderAttempt(run, StartingVersion(run), kWidePrompt, fmt::format("direction {} of {}", wide + 1, first_wide));
    std::vector<Line> lines = Lines(run);
    if (lines.empty())
      return CoderAttempt(run, StartingVersion(run), kWidePrompt,
                 fmt::format("direction {}: none so far came out right", wide + 1));
    if (patience > 0 && since_gain >= patience) {
      return CoderAttempt(run, BestInTarget(run), kWidePrompt,
                 fmt::format("direction {}: no gain in {} attempts", wide + 1, since_gain));
    }
    const double least_speedup = SettingOf(o, "funnel.reach") * lines.front().speedup;
    std::erase_if(lines, [&](const Line& line) { return line.speedup < least_speedup; });
    const auto most = static_cast<size_t>(WholeSettingOf(o, "funnel.lines"));
    if (lines.size() > most) lines.resize(most);
    const int64_t every = WholeSettingOf(o, "funnel.cross");
    if (every > 0 && lines.size() > 1 && deep % every == every - 1) {
      // The lines take turns as the source of the idea, so that the same two lines are not joined twice in succession.
      const Line& source = lines[1 + static_cast<size_t>(deep / every) % (lines.size() - 1)];
      AttemptAction attempt = CoderAttempt(run, lines[0].leader, "funnel_cross",
                                  fmt::format("carries node {} over to node {}", source.leader, lines[0].leader));
      attempt.turns.front().shown = {source.leader};
      return attempt;
    }
    const Line& line = lines[static_cast<size_t>(deep) % lines.size()];
    return CoderAttempt(run, line.leader, "funnel_deep",
               fmt::format("goes on with the line of node {}, {} of {} lines in reach", line.first,
                           static_cast<size_t>(deep) % lines.size() + 1, lines.size()));
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeFunnelStrategy() { return std::make_unique<FunnelStrategy>(); }

}  // namespace hone
