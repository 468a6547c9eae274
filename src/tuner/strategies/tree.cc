// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tuner/strategies/limits.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

constexpr size_t kMostShown = 8;  // a prompt shows at most this many relatives of one kind, the newest

// Returns how near to correct an incorrect node is; larger is nearer: wrong output is nearer than a compile error.
int NearnessToRight(const RunNode& node) {
  if (!node.evaluation) return 0;
  switch (node.evaluation->verdict) {
    case Verdict::kOk: return 9;
    case Verdict::kWrongOutput: return 8;
    case Verdict::kRuleViolation: return 7;
    case Verdict::kTimedOut: return 6;
    case Verdict::kCrashed: return 5;
    case Verdict::kLaunchError: return 4;
    case Verdict::kResourceLimit: return 3;
    case Verdict::kCompileError: return 2;
    default: return 1;
  }
}

// The attempts that started from a node.
struct Growth {
  std::vector<int64_t> children;  // in the order in which they were opened
  int64_t in_flight = 0, failed = 0, right = 0;
  bool mended = false;     // a repair of the node is correct
  bool mending = false;    // a repair is in flight
};

// The tree of all versions, with what its rules need to know of each node.
class Tree {
 public:
  explicit Tree(const Knowledge& run) : run_(run), growth_(static_cast<size_t>(run.opened())) {
    for (int64_t id = 1; id < run.opened(); ++id) {
      const RunNode& node = run.node(id);
      Growth& parent = growth_[static_cast<size_t>(node.parent)];
      parent.children.push_back(id);
      if (!run.IsKnown(id)) {
        ++parent.in_flight;
        parent.mending = parent.mending || node.purpose == "debug";
      } else if (Right(node)) {
        ++parent.right;
        parent.mended = parent.mended || node.purpose == "debug";
      } else {
        ++parent.failed;
      }
    }
  }

  // Returns the nodes from which attempts may start, STARK's eligible nodes, in the order of their numbers.
  std::vector<int64_t> Eligible() const {
    const RunOptions& o = run_.options();
    const auto most_failed = WholeSettingOf(o, "tree.dead_children");
    std::vector<int64_t> eligible;
    for (int64_t id = 1; id < run_.known(); ++id) {
      const RunNode& node = run_.node(id);
      const Growth& growth = growth_[static_cast<size_t>(id)];
      if (node.source_hash.empty() || !node.evaluation || node.rejected) continue;
      if (growth.failed >= most_failed && growth.right == 0) continue;  // a dead branch
      if (!Right(node) && (growth.mended || growth.mending)) continue;
      eligible.push_back(id);
    }
    const bool throttled =
        static_cast<int64_t>(growth_[0].children.size()) >= WholeSettingOf(o, "tree.root_children");
    // The root is for comparison only if it is not in CuTe although the target is, or if the run begins with the user's
    // own version. It is then eligible only if no other node is.
    const bool root_is_for_comparison = !eligible.empty() && (!InTarget(run_, 0) || !run_.view().broken_start.empty());
    if ((!throttled && !root_is_for_comparison) || eligible.empty()) eligible.insert(eligible.begin(), 0);
    return eligible;
  }

  // Returns whether no attempt started from the node.
  bool Leaf(int64_t id) const { return growth_[static_cast<size_t>(id)].children.empty(); }
  // Returns the number of attempts from the node whose results are not known yet.
  int64_t InFlight(int64_t id) const { return growth_[static_cast<size_t>(id)].in_flight; }

  // Returns the fastest correct version of `nodes`; if there is none, the incorrect one nearest to correct. Of equal
  // nodes, returns the first.
  int64_t Greedy(std::vector<int64_t> nodes) const {
    const int64_t width = WholeSettingOf(run_.options(), "tree.width");
    if (std::any_of(nodes.begin(), nodes.end(), [&](int64_t id) { return InFlight(id) < width; })) {
      std::erase_if(nodes, [&](int64_t id) { return InFlight(id) >= width; });
    }
    return *std::max_element(nodes.begin(), nodes.end(), [&](int64_t a, int64_t b) {
      const RunNode &x = run_.node(a), &y = run_.node(b);
      const double speedup_x = Right(x) || a == 0 ? x.speedup.value_or(0) : -1;
      const double speedup_y = Right(y) || b == 0 ? y.speedup.value_or(0) : -1;
      if (speedup_x != speedup_y) return speedup_x < speedup_y;
      // If nodes are equal, max_element returns the first; Next passes the newest first.
      return NearnessToRight(x) < NearnessToRight(y);
    });
  }

  // Returns the known children of the given nodes, at most the newest kMostShown.
  std::vector<int64_t> Children(const std::vector<int64_t>& parents) const {
    std::vector<int64_t> node_ids;
    for (const int64_t id : parents) {
      for (const int64_t child : growth_[static_cast<size_t>(id)].children) {
        if (run_.IsKnown(child)) node_ids.push_back(child);
      }
    }
    std::sort(node_ids.begin(), node_ids.end());
    if (node_ids.size() > kMostShown) node_ids.erase(node_ids.begin(), node_ids.end() - kMostShown);
    return node_ids;
  }
  // Returns the known children of the node's parent, without the node.
  std::vector<int64_t> Siblings(int64_t id) const {
    if (id == 0) return {};
    std::vector<int64_t> siblings = Children({run_.node(id).parent});
    std::erase(siblings, id);
    return siblings;
  }
  // Returns the fastest correct versions, at most `most`, the fastest first.
  std::vector<int64_t> Leaders(int64_t most) const {
    std::vector<int64_t> right;
    for (int64_t id = 1; id < run_.known(); ++id) {
      if (Right(run_.node(id)) && run_.node(id).speedup) right.push_back(id);
    }
    std::stable_sort(right.begin(), right.end(),
                     [&](int64_t a, int64_t b) { return *run_.node(a).speedup > *run_.node(b).speedup; });
    if (static_cast<int64_t>(right.size()) > most) right.resize(static_cast<size_t>(most));
    return right;
  }

 private:
  const Knowledge& run_;
  std::vector<Growth> growth_;
};

// Returns the nodes that a prompt shows: the seed, and then the nodes of all parts, each once.
std::vector<int64_t> Window(const std::vector<std::vector<int64_t>>& parts) {
  std::vector<int64_t> window{0};
  for (const std::vector<int64_t>& part : parts) {
    for (const int64_t id : part) {
      if (std::find(window.begin(), window.end(), id) == window.end()) window.push_back(id);
    }
  }
  return window;
}

// Returns the newest judged version, correct or not; the seed if there is none. With several attempts in flight, returns
// the version that comes as many before it, so that each attempt starts from another one.
int64_t Newest(const Knowledge& run) {
  const int64_t lag = run.opened() - run.known();
  int64_t newest = 0, newer = 0;  // newer: judged versions after `newest`
  for (int64_t id = run.known() - 1; id > 0; --id) {
    if (run.node(id).origin != "reply" || !run.node(id).evaluation) continue;
    newest = id;
    if (newer++ == lag) break;
  }
  return newest;
}

class TreeStrategy : public Strategy {
 public:
  std::string_view Name() const override { return "tree"; }
  std::vector<std::string> Roles() const override { return {"planner", "coder", "debugger"}; }

  std::optional<Action> Next(const Knowledge& run) const override {
    const RunOptions& o = run.options();
    if (run.view().seed_broken) return Close(run, "seed_broken");
    if (const std::string stop = StopReason(run); !stop.empty()) return Close(run, stop);
    if (const std::optional<SweepAction> sweep = DueSweep(run)) return *sweep;

    const Tree tree(run);
    const std::vector<int64_t> eligible = tree.Eligible();
    std::vector<int64_t> leaves;
    for (const int64_t id : eligible) {
      if (tree.Leaf(id)) leaves.push_back(id);
    }
    Rng rng = DrawsFor(o, run.opened());
    const bool search = WholeSettingOf(o, "tree.search") != 0, roles = WholeSettingOf(o, "tree.roles") != 0;
    const bool explore = search && rng.Uniform() < SettingOf(o, "tree.epsilon") && !leaves.empty();
    const int64_t chosen = !search   ? Newest(run)
                           : explore ? leaves[rng.Below(leaves.size())]
                                     : tree.Greedy({eligible.rbegin(), eligible.rend()});
    AttemptAction attempt;
    attempt.parent = chosen;
    attempt.incumbent = run.best();
    attempt.note = !search ? fmt::format("goes on from node {}, the newest", chosen)
                           : fmt::format("{} node {} of {} eligible, {} of them leaves", explore ? "explores" : "exploits", chosen,
                                         eligible.size(), leaves.size());
    if (chosen != 0 && IsIncorrect(run.node(chosen))) {
      attempt.purpose = "debug";
      if (!roles) {
        attempt.turns = {{"coder", "tree_alone", SettingOf(o, "tree.debug_temperature"), /*profile=*/false,
                          /*ledger=*/true, Window({tree.Siblings(chosen)})}};
        return attempt;
      }
      attempt.turns = {{"debugger", "tree_debug", SettingOf(o, "tree.debug_temperature"), /*profile=*/false,
                        /*ledger=*/false, Window({tree.Siblings(chosen)})}};
      return attempt;
    }
    if (chosen == 0 && (NeedsFirstVersion(run) || !InTarget(run, 0))) return FirstVersion(run);
    const std::vector<int64_t> children = tree.Children({chosen});
    if (!roles) {
      attempt.turns = {{"coder", "tree_alone", SettingOf(o, "tree.plan_temperature"), /*profile=*/true, /*ledger=*/true,
                        Window({children, tree.Leaders(WholeSettingOf(o, "tree.leaders"))})}};
      return attempt;
    }
    // In logs up to version 5, a coder saw the plan's regions but could change others.
    const bool bound = run.view().version >= 6 && WholeSettingOf(o, "tree.bind") != 0;
    attempt.turns = {{"planner", "tree_plan", SettingOf(o, "tree.plan_temperature"), /*profile=*/true, /*ledger=*/true,
                      Window({children, tree.Leaders(WholeSettingOf(o, "tree.leaders"))}), bound},
                     {"coder", "tree_code", SettingOf(o, "tree.code_temperature"), /*profile=*/false, /*ledger=*/false,
                      Window({children, tree.Children(tree.Siblings(chosen))}), bound}};
    return attempt;
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeTreeStrategy() { return std::make_unique<TreeStrategy>(); }

}  // namespace hone
