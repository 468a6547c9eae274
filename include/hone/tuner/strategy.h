// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides what a run does next. A Strategy is a pure function of what the run knows (run_view.h): with the log, it
// makes a run that can be killed at any instant, continued, replayed and tested without a GPU, a network or a clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/run_view.h"

namespace hone {

// Open an attempt: ask in turn, and judge what comes of it against `incumbent`.
struct AttemptAction {
  int64_t parent = 0;
  std::string purpose = "optimise";  // generate | optimise | debug
  std::vector<Turn> turns;           // 1 to kMaxTurns; the last one's reply becomes the candidate
  int64_t incumbent = 0;
  std::string note;  // why this one: "explores leaf 7", for the log
};
// Try the bindings of a node's tunables against `incumbent`, and propose the winners as a new node.
struct SweepAction {
  int64_t node = 0;
  int64_t incumbent = 0;
};
// Ask a tester for cases; each is vetted with the seed and joins the check cases of every later evaluation.
struct CasesAction {
  Turn turn;
};
// Pair the best with the seed once more, on fresh hidden cases. Needs everything settled.
struct FinalAction {
  int64_t node = 0;
};
// Needs everything settled.
struct FinishAction {
  std::string reason;  // floor_reached, attempts_spent, time_spent, no_more_ideas, …
};
using Action = std::variant<AttemptAction, SweepAction, CasesAction, FinalAction, FinishAction>;

// What a decision may rest on: the nodes below `known`, and of the others that they were opened, with their
// parents and purposes. Two runs that get the same replies and evaluations thus decide alike, in whatever order
// these arrive. Borrows the view.
class Knowledge {
 public:
  Knowledge(const RunView& view, int64_t known) : view_(view), known_(known) {}
  int64_t known() const { return known_; }
  int64_t opened() const { return static_cast<int64_t>(view_.nodes.size()); }
  bool everything() const { return known_ == opened(); }
  // Whole below known(); above, only id, parent, purpose, turns and incumbent may be read.
  const RunNode& node(int64_t id) const { return view_.node(id); }
  bool Knows(int64_t id) const { return id < known_; }
  int64_t best() const { return known_ <= 0 ? 0 : view_.node(known_ - 1).best_after; }
  const RunOptions& options() const { return view_.options; }
  // Budgets, cases, sweeps: not by node.
  const RunView& view() const { return view_; }

 private:
  const RunView& view_;
  int64_t known_;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view Name() const = 0;
  // The roles of its turns: whom `ROLE=MODEL` may name in a run with this strategy.
  virtual std::vector<std::string> Roles() const = 0;
  // What to open next. While the seed is judged it is asked once or more knowing nothing, and only a CasesAction or a
  // SweepAction of the seed is then taken. nullopt: nothing until all that is in flight is settled (then it is asked again, knowing
  // everything). Pure: no clock, no random source but draws keyed by options.seed and the node's number, no memory.
  virtual std::optional<Action> Next(const Knowledge& run) const = 0;
};

// refine | team | tree | sample | reflexion | single | agent | funnel. kInvalidArgument lists the names.
Result<std::unique_ptr<Strategy>> MakeStrategy(std::string_view name);
std::vector<std::string> StrategyNames();

}  // namespace hone
