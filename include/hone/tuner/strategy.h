// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides what a run does next. A Strategy is a pure function of the run's state (run_view.h): with the log, this makes
// a run that can be killed at any instant, continued, replayed and tested without a GPU, a network or a clock.
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

// Opens an attempt: sends its requests one after the other, and times the resulting candidate against `incumbent`.
struct AttemptAction {
  int64_t parent = 0;                // node that the attempt starts from
  std::string purpose = "optimise";  // generate | optimise | debug
  std::vector<Turn> turns;           // 1 to kMaxTurns; the reply to the last becomes the candidate
  int64_t incumbent = 0;             // node that the candidate is timed against
  std::string note;                  // the reason for this attempt, for the log: "explores leaf 7"
};
// Tries the bindings of a node's tunables against `incumbent`, and proposes the winners as a new node.
struct SweepAction {
  int64_t node = 0;  // node whose tunables are swept
  int64_t incumbent = 0;
};
// Asks a tester for cases. The seed is run on each; accepted cases become check cases of every later evaluation.
struct CasesAction {
  Turn turn;
};
// Times the best node against the seed once more, with fresh hidden cases. Requires that every node is settled.
struct FinalAction {
  int64_t node = 0;  // the best node
};
// Ends the run. Requires that every node is settled.
struct FinishAction {
  std::string reason;  // floor_reached, attempts_spent, time_spent, no_more_ideas, …
};
using Action = std::variant<AttemptAction, SweepAction, CasesAction, FinalAction, FinishAction>;

// The knowledge that a decision may use: everything about the nodes below `known`, and of later nodes only that they
// were opened, with their parents and purposes. Two runs with the same replies and evaluations therefore decide alike,
// whatever the order in which these arrive. Borrows the view.
class Knowledge {
 public:
  Knowledge(const RunView& view, int64_t known) : view_(view), known_(known) {}
  // Returns the number of nodes whose results may be used: those with smaller ids.
  int64_t known() const { return known_; }
  // Returns the number of nodes that exist, those in flight included.
  int64_t opened() const { return static_cast<int64_t>(view_.nodes.size()); }
  // Returns whether no node is in flight: the results of all may be used.
  bool all_known() const { return known_ == opened(); }
  // Returns a node. All fields below known() may be read; above, only id, parent, purpose, turns and incumbent.
  const RunNode& node(int64_t id) const { return view_.node(id); }
  // Returns whether the results of node `id` may be used.
  bool IsKnown(int64_t id) const { return id < known_; }
  // Returns the best of the known nodes; 0, the seed, if none is known.
  int64_t best() const { return known_ <= 0 ? 0 : view_.node(known_ - 1).best_after; }
  const RunOptions& options() const { return view_.options; }
  // Returns the whole state, for budgets, cases and sweeps, which do not depend on single nodes.
  const RunView& view() const { return view_; }

 private:
  const RunView& view_;
  int64_t known_;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view Name() const = 0;
  // Returns the roles that this strategy's turns ask. In a run with it, `ROLE=MODEL` may name these roles.
  virtual std::vector<std::string> Roles() const = 0;
  // Returns the next action. nullopt: nothing is opened until every node in flight is settled; Next is then called
  // again with full knowledge. While the seed is being judged, Next is called at least once with no knowledge, and only
  // a CasesAction or a SweepAction of the seed is then accepted. Next is a pure function: no clock, no memory, and no
  // random numbers except draws keyed by options.seed and the node's number.
  virtual std::optional<Action> Next(const Knowledge& run) const = 0;
};

// Makes a strategy: refine | team | tree | sample | reflexion | single | agent | funnel. kInvalidArgument lists the
// names.
Result<std::unique_ptr<Strategy>> MakeStrategy(std::string_view name);
std::vector<std::string> StrategyNames();

}  // namespace hone
