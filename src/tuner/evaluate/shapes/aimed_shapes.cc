// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/shapes/aimed_shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tuner/core/plan/bindings.h"
#include "tuner/evaluate/shapes/condition_distance.h"

namespace hone {
namespace {

using Sizes = std::vector<int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Limits on the comparisons of conditions that the search for one plan evaluates in all, and for each alternative, so
// that an unreachable alternative leaves some for those after it. One comparison takes some 0.2 us.
constexpr int64_t kMostComparisons = 400'000, kMostComparisonsEach = 60'000;
constexpr int64_t kCostInComparisons = 20;  // the cost of a shape counts as this many comparisons
constexpr int kRandomStarts = 6;            // random starting points of a search
constexpr int kWalkSteps = 32;              // steps of the random walk after a search
constexpr uint64_t kMostHalvings = 8;       // halvings of the other dimensions of an edge: fewer than this
constexpr int64_t kMostJitter = 8;
constexpr size_t kEdgeTries = 16;   // limit on the searches for edges
constexpr int kMostDoublings = 40;  // steps of 1, 2, 4, … multiples: this many
constexpr int kMostSnaps = 12;      // sizes are rounded to multiples of up to 2^12

// An Aim is the search for one plan.
class Aim {
 public:
  Aim(const Task& task, const LaunchPlan& plan, const Binding& binding, const DeviceFacts& facts,
      const FairShapes& fair, const EntriesTaken& entries_taken, uint64_t seed)
      : task_(task), plan_(plan), fair_(fair), entries_taken_(entries_taken), seed_(seed) {
    for (const PlanEntry& entry : plan.entries) {
      std::map<std::string, int64_t> constants = EffectiveBinding(plan, binding, entry);
      constants["sm_count"] = facts.sm_count;
      constants["cc"] = facts.cc_major * 10 + facts.cc_minor;
      constants["l2_bytes"] = facts.l2_bytes;
      constants["smem_optin"] = facts.smem_optin;
      conditions_.push_back(
          entry.when ? std::optional<ConditionDistance>(std::in_place, *entry.when, fair.dimensions(), constants)
                     : std::nullopt);
    }
  }

  // Returns a shape that takes entry `target`: one at the end of a random walk, so that it cannot be foreseen.
  std::optional<Sizes> ShapeFor(size_t target);
  // Returns a shape at which the entry is only just taken: a dimension that its condition mentions has the largest
  // (else the smallest) possible size, and other dimensions are small.
  std::optional<Sizes> EdgeOf(size_t target, bool largest);
  // Returns whether no shape at all takes the entry.
  bool IsUnreachable(size_t target) const;
  std::optional<std::vector<size_t>> Taken(const Sizes& values) const { return entries_taken_(fair_.DimsOf(values)); }

 private:
  bool TakesTarget(const Sizes& values, size_t target) const {
    const std::optional<std::vector<size_t>> entries = Taken(values);
    return entries && std::find(entries->begin(), entries->end(), target) != entries->end();
  }
  std::optional<Sizes> OnlyShape(size_t target) const;
  double DistanceToTarget(const Sizes& values, size_t target, double give_up_above);
  Sizes Descend(Sizes values, size_t target, double* distance);
  Sizes Walk(const Sizes& from, size_t target, Rng& rng);
  std::vector<Sizes> StartingPoints(size_t target, Rng& rng) const;
  int64_t SpentWork() const {
    int64_t spent = other_work_;
    for (const auto& condition : conditions_) spent += condition ? condition->comparisons() : 0;
    return spent;
  }

  const Task& task_;
  const LaunchPlan& plan_;
  const FairShapes& fair_;
  const EntriesTaken& entries_taken_;
  const uint64_t seed_;
  std::vector<std::optional<ConditionDistance>> conditions_;
  int64_t other_work_ = 0, may_spend_ = 0;
};

// Returns the only shape that can take the entry, if its condition fixes each dimension; otherwise nullopt.
std::optional<Sizes> Aim::OnlyShape(size_t target) const {
  if (!conditions_[target] || conditions_[target]->pinned().size() != fair_.dimensions().size()) return std::nullopt;
  Sizes values;
  for (const auto& [dim, value] : conditions_[target]->pinned()) values.push_back(value);
  return values;
}

bool Aim::IsUnreachable(size_t target) const {
  if (conditions_[target] && conditions_[target]->NeverHolds()) return true;
  const std::optional<Sizes> only = OnlyShape(target);
  if (!only || std::any_of(only->begin(), only->end(), [](int64_t size) { return size < 0; })) return false;
  if (conditions_[target]->ToHold(*only) > 0) return true;
  const std::optional<std::vector<size_t>> entries = Taken(*only);
  return entries && std::any_of(entries->begin(), entries->end(), [&](size_t other) {
           return other < target && plan_.entries[other].step == plan_.entries[target].step;
         });
}

// Returns the distance of `values` from a shape that takes the target, is fair and within the limits: 0 for such a
// shape, infinity for a shape that is not fair.
double Aim::DistanceToTarget(const Sizes& values, size_t target, double give_up_above) {
  double distance = conditions_[target] ? conditions_[target]->ToHold(values) : 0;
  for (size_t i = target;
       i-- > 0 && plan_.entries[i].step == plan_.entries[target].step && distance <= give_up_above;) {
    if (conditions_[i]) distance += conditions_[i]->ToFail(values);
  }
  if (distance > give_up_above) return distance;
  other_work_ += kCostInComparisons;
  const std::optional<double> cost = fair_.Cost(values);
  if (!cost) return kInfinity;
  return *cost <= 1 ? distance : distance + 1 - 1 / (1 + std::log2(*cost));
}

// Searches by alternating variables: takes the best of many steps along one dimension after the other, until no step
// reduces the distance.
Sizes Aim::Descend(Sizes values, size_t target, double* distance) {
  *distance = DistanceToTarget(values, target, kInfinity);
  for (bool nearer = true; nearer && *distance > 0 && SpentWork() < may_spend_;) {
    nearer = false;
    for (size_t i = 0; i < values.size() && *distance > 0 && SpentWork() < may_spend_; ++i) {
      const FairShapes::Range& range = fair_.ranges()[i];
      if (range.fixed()) continue;
      const int64_t at = values[i];
      Sizes moves = range.only;
      if (range.only.empty()) {
        for (int k = 0; k < kMostDoublings && range.multiple <= (range.high >> k); ++k) {
          moves.push_back(at + (range.multiple << k));
          moves.push_back(at - (range.multiple << k));
        }
        for (int k = 1; k <= kMostSnaps; ++k) {
          const int64_t snap = std::lcm(range.multiple, int64_t{1} << k);
          if (snap <= range.high) moves.insert(moves.end(), {RoundDown(at, snap), RoundUp(at + 1, snap)});
        }
        moves.insert(moves.end(), {range.low, range.high});
        if (conditions_[target]) {
          const auto pin = conditions_[target]->pinned().find(i);
          if (pin != conditions_[target]->pinned().end()) moves.push_back(pin->second);
        }
      }
      int64_t best = at;
      for (const int64_t move : moves) {
        if (move < range.low || move > range.high || move == at) continue;
        values[i] = move;
        const double new_distance = DistanceToTarget(values, target, *distance);
        if (new_distance < *distance) {
          *distance = new_distance;
          best = move;
        }
      }
      values[i] = best;
      nearer = nearer || best != at;
    }
  }
  return values;
}

// Takes random steps that stay within the alternative. A step gives one dimension a size from half to twice its present
// one, rounded in half of the steps to a multiple of a power of two, such as conditions name.
Sizes Aim::Walk(const Sizes& from, size_t target, Rng& rng) {
  Sizes values = from;
  for (int step = 0; step < kWalkSteps; ++step) {
    const size_t i = rng.Below(values.size());
    const FairShapes::Range& range = fair_.ranges()[i];
    if (range.fixed()) continue;
    Sizes changed_sizes = values;
    changed_sizes[i] = range.Draw(rng, static_cast<double>(values[i]) / 2, static_cast<double>(values[i]) * 2);
    if (range.only.empty() && rng.Below(2) == 0) {
      changed_sizes[i] = RoundDown(changed_sizes[i], std::lcm(range.multiple, int64_t{1} << (1 + rng.Below(8))));
    }
    if (changed_sizes[i] != values[i] && changed_sizes[i] >= range.low && changed_sizes[i] <= range.high &&
        DistanceToTarget(changed_sizes, target, 0) == 0)
      values = std::move(changed_sizes);
  }
  return values;
}

// Returns starting points of the search: the task's cases and random shapes, reduced to the limits.
std::vector<Sizes> Aim::StartingPoints(size_t target, Rng& rng) const {
  std::vector<Sizes> starts;
  for (const Case& c : task_.cases) {
    Sizes values = fair_.Values(c.dims);
    for (size_t i = 0; i < values.size(); ++i) values[i] = fair_.ranges()[i].LargestAllowed(values[i]);
    if (const std::optional<Sizes> fitting = fair_.HalvedToLimits(values, rng)) starts.push_back(*fitting);
  }
  for (int n = 0; n < kRandomStarts; ++n) {
    Sizes values;
    for (const FairShapes::Range& range : fair_.ranges()) {
      values.push_back(range.Draw(rng, 1, static_cast<double>(range.high)));
    }
    if (const std::optional<Sizes> fitting = fair_.HalvedToLimits(values, rng)) starts.push_back(*fitting);
  }
  // Each start gets the sizes that the condition fixes.
  if (conditions_[target]) {
    for (Sizes& values : starts) {
      for (const auto& [dim, value] : conditions_[target]->pinned())
        values[dim] = fair_.ranges()[dim].LargestAllowed(value);
    }
  }
  return starts;
}

std::optional<Sizes> Aim::ShapeFor(size_t target) {
  if (const std::optional<Sizes> only = OnlyShape(target)) {
    return fair_.Allows(*only) && TakesTarget(*only, target) ? only : std::nullopt;
  }
  Rng rng = Rng(seed_).Split(target);
  const int64_t spent = SpentWork();
  if (spent >= kMostComparisons) return std::nullopt;
  may_spend_ = std::min(kMostComparisons, spent + kMostComparisonsEach);
  std::vector<std::pair<double, Sizes>> starts;
  for (Sizes& start : StartingPoints(target, rng))
    starts.emplace_back(DistanceToTarget(start, target, kInfinity), std::move(start));
  std::stable_sort(starts.begin(), starts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [unused, start] : starts) {
    if (SpentWork() >= may_spend_) break;
    double distance = 0;
    const Sizes nearest = Descend(start, target, &distance);
    if (distance > 0 || !TakesTarget(nearest, target)) continue;
    const Sizes walked = Walk(nearest, target, rng);
    return TakesTarget(walked, target) ? walked : nearest;
  }
  return std::nullopt;
}

std::optional<Sizes> Aim::EdgeOf(size_t target, bool largest) {
  Rng rng = Rng(seed_).Split(target);
  // Take the dimensions that the entry's own condition mentions, or else those of the nearest earlier condition of the
  // same step that mentions any.
  std::set<size_t> spoken_of;
  for (size_t i = target + 1; i-- > 0 && spoken_of.empty() && plan_.entries[i].step == plan_.entries[target].step;) {
    if (!plan_.entries[i].when) continue;
    const std::vector<std::string> names = plan_.entries[i].when->Names();
    for (size_t dim = 0; dim < fair_.dimensions().size(); ++dim) {
      const bool is_in_condition = std::find(names.begin(), names.end(), fair_.dimensions()[dim]) != names.end();
      if (is_in_condition && fair_.ranges()[dim].only.empty()) spoken_of.insert(dim);
    }
  }
  std::optional<Sizes> from = spoken_of.empty() ? std::nullopt : ShapeFor(target);
  if (!from) return std::nullopt;
  Sizes values = std::move(*from);
  const size_t dim = *std::next(spoken_of.begin(), static_cast<std::ptrdiff_t>(rng.Below(spoken_of.size())));
  const auto move = [&](size_t i, int64_t to) {
    const FairShapes::Range& range = fair_.ranges()[i];
    if (to == values[i] || to < range.low || to > range.high) return false;
    Sizes changed_sizes = values;
    changed_sizes[i] = to;
    if (DistanceToTarget(changed_sizes, target, 0) > 0) return false;
    values = std::move(changed_sizes);
    return true;
  };
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == dim || !fair_.ranges()[i].only.empty()) continue;
    for (uint64_t halvings = rng.Below(kMostHalvings);
         halvings > 0 && move(i, fair_.ranges()[i].LargestAllowed(values[i] / 2));)
      --halvings;
  }
  // Move the size as far as possible, in ever smaller steps, and also to sizes that a condition on a remainder may ask
  // for.
  const int64_t step = (largest ? 1 : -1) * fair_.ranges()[dim].multiple;
  for (int k = kMostDoublings; k-- > 0;) {
    if (std::abs(step) > (fair_.ranges()[dim].high >> k)) continue;
    for (bool moved = true; moved && SpentWork() < may_spend_;) {
      moved = move(dim, values[dim] + step * 3 * (int64_t{1} << k));
      for (int64_t j = 0; j < kMostJitter && !moved; ++j)
        moved = move(dim, values[dim] + step * ((int64_t{1} << k) + j));
    }
  }
  return TakesTarget(values, target) ? std::optional(values) : std::nullopt;
}

}  // namespace

AimedShapes AimAtAlternatives(const Task& task, const LaunchPlan& plan, const Binding& binding,
                              const DeviceFacts& facts, const FairShapes& fair, const std::set<size_t>& taken,
                              const EntriesTaken& entries_taken, int most, uint64_t seed) {
  AimedShapes aimed;
  if (!fair.any() || plan.host_mode) return aimed;
  Aim aim(task, plan, binding, facts, fair, entries_taken, seed);
  for (size_t target = 0; target < plan.entries.size(); ++target) {
    if (taken.contains(target) || aimed.taken.contains(target)) continue;
    if (aim.IsUnreachable(target)) {
      aimed.unreachable.insert(target);
      continue;
    }
    if (static_cast<int>(aimed.cases.size()) >= most) continue;
    const std::optional<Sizes> shape = aim.ShapeFor(target);
    if (!shape) continue;
    const std::optional<std::vector<size_t>> entries = aim.Taken(*shape);
    aimed.taken.insert(entries->begin(), entries->end());
    aimed.cases.push_back({fair.DimsOf(*shape), CaseRole::kHidden});
  }
  return aimed;
}

std::vector<Case> EdgesOfAlternatives(const Task& task, const LaunchPlan& plan, const Binding& binding,
                                      const DeviceFacts& facts, const FairShapes& fair, const std::set<size_t>& but_not,
                                      const EntriesTaken& entries_taken, int count, uint64_t seed) {
  std::vector<Case> edges;
  std::vector<size_t> targets;
  for (size_t i = 0; i < plan.entries.size() && fair.any() && !plan.host_mode; ++i) {
    if (!but_not.contains(i)) targets.push_back(i);
  }
  Rng rng(seed);
  for (size_t left = targets.size(); left > 1; --left) std::swap(targets[left - 1], targets[rng.Below(left)]);
  // The first round tries the largest size of most alternatives (seven in eight) and the smallest of the others; the
  // second round does the opposite.
  std::vector<bool> wants_largest;
  for (size_t i = 0; i < targets.size(); ++i) wants_largest.push_back(rng.Below(8) > 0);
  for (size_t tries = 0; tries < 2 * targets.size() && static_cast<int>(edges.size()) < count && tries < kEdgeTries;
       ++tries) {
    const size_t at = tries % targets.size();
    Aim aim(task, plan, binding, facts, fair, entries_taken, rng.Next());
    const std::optional<Sizes> edge = aim.EdgeOf(targets[at], wants_largest[at] == (tries < targets.size()));
    if (!edge) continue;
    Case edge_case{fair.DimsOf(*edge), CaseRole::kHidden};
    const auto has_same_dims = [&](const Case& other) { return other.dims == edge_case.dims; };
    if (std::none_of(edges.begin(), edges.end(), has_same_dims)) edges.push_back(std::move(edge_case));
  }
  return edges;
}

AimedShapes ShapesBeyond(const Task& task, const LaunchPlan& plan, const Binding& binding, const DeviceFacts& facts,
                         const std::set<size_t>& checked, const EntriesTaken& entries_taken,
                         const BeyondOptions& options, uint64_t seed) {
  const FairShapes fair(task, options.limits);
  const Rng secrets(seed);
  AimedShapes aimed_shapes;
  const auto serves = [&](const Dims& dims) { return entries_taken(dims).has_value(); };
  aimed_shapes.cases = OddNeighbors(task, fair, options.neighbors, serves, secrets.Split(0).Next());
  if (options.many_slices > 0) {
    for (Case& shape : StretchedShapes(task, fair, options.many_slices, serves, secrets.Split(4).Next())) {
      const auto has_same_dims = [&](const Case& other) { return other.dims == shape.dims; };
      if (std::none_of(aimed_shapes.cases.begin(), aimed_shapes.cases.end(), has_same_dims))
        aimed_shapes.cases.push_back(std::move(shape));
    }
  }
  const auto note = [&](const Dims& dims, std::set<size_t>* entries) {
    if (const auto entries_of_shape = entries_taken(dims))
      entries->insert(entries_of_shape->begin(), entries_of_shape->end());
  };
  for (const Case& neighbor : aimed_shapes.cases) note(neighbor.dims, &aimed_shapes.taken);
  std::set<size_t> timed;
  for (const Case& c : task.cases) {
    if (options.timed && c.role == CaseRole::kTime) note(c.dims, &timed);
  }
  int cases_left = options.aimed;
  for (const bool timed_ones : {false, true}) {
    std::set<size_t> taken = checked;
    taken.insert(aimed_shapes.taken.begin(), aimed_shapes.taken.end());
    taken.insert(aimed_shapes.unreachable.begin(), aimed_shapes.unreachable.end());
    if (!timed_ones) taken.insert(timed.begin(), timed.end());
    AimedShapes aimed = AimAtAlternatives(task, plan, binding, facts, fair, taken, entries_taken, cases_left,
                                          secrets.Split(timed_ones ? 2 : 1).Next());
    cases_left -= static_cast<int>(aimed.cases.size());
    aimed_shapes.cases.insert(aimed_shapes.cases.end(), aimed.cases.begin(), aimed.cases.end());
    aimed_shapes.taken.merge(aimed.taken);
    aimed_shapes.unreachable.merge(aimed.unreachable);
  }
  // No edge is searched for an alternative for which the search found no shape.
  std::set<size_t> without_edge;
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    if (!checked.contains(i) && !aimed_shapes.taken.contains(i) && !timed.contains(i)) without_edge.insert(i);
  }
  const int spent = options.neighbors + 2 * (options.aimed - cases_left);
  const int edges = std::clamp(options.launches - spent, std::min(1, options.edges), options.edges);
  for (Case& edge : EdgesOfAlternatives(task, plan, binding, facts, fair, without_edge, entries_taken, edges,
                                        secrets.Split(3).Next())) {
    note(edge.dims, &aimed_shapes.taken);
    const auto has_same_dims = [&](const Case& other) { return other.dims == edge.dims; };
    if (std::none_of(aimed_shapes.cases.begin(), aimed_shapes.cases.end(), has_same_dims))
      aimed_shapes.cases.push_back(std::move(edge));
  }
  return aimed_shapes;
}

}  // namespace hone
