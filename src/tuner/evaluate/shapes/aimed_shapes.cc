// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/shapes/aimed_shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tuner/core/bindings.h"
#include "tuner/evaluate/shapes/condition_distance.h"

namespace hone {
namespace {

using Sizes = std::vector<int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Comparisons of conditions that the search for one plan may work out, and for one alternative of it, so that one that
// is out of reach does not starve those after it. Some 0.2 us each.
constexpr int64_t kMostComparisons = 400'000, kMostComparisonsEach = 60'000;
constexpr int64_t kCostInComparisons = 20;  // what working out a shape's cost counts as
constexpr int kRandomStarts = 6;
constexpr int kWalkSteps = 32;
constexpr int kNeighborTries = 64;
constexpr int kMostDoublings = 40;  // of a step
constexpr int kMostSnaps = 12;      // multiples of up to 2^12

int64_t RoundDown(int64_t value, int64_t multiple) { return value / multiple * multiple; }
int64_t RoundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Into the range, in its multiples.
int64_t Fitted(const FairShapes::Range& range, int64_t value) {
  if (!range.only.empty()) {
    return *std::min_element(range.only.begin(), range.only.end(),
                             [&](int64_t a, int64_t b) { return std::abs(a - value) < std::abs(b - value); });
  }
  const int64_t low = RoundUp(range.low, range.multiple), high = RoundDown(range.high, range.multiple);
  return std::clamp(RoundDown(value, range.multiple), low, std::max(low, high));
}

int64_t LogUniform(Rng& rng, const FairShapes::Range& range, double low, double high) {
  low = std::max(low, static_cast<double>(range.low));
  high = std::clamp(high, low, static_cast<double>(range.high));
  return Fitted(range, static_cast<int64_t>(low * std::pow((high + 1) / low, rng.Uniform())));
}

}  // namespace

FairShapes::FairShapes(const Task& task, const ShapeLimits& limits) : task_(task), limits_(limits) {
  for (const auto& [name, text] : task.dims) dimensions_.push_back(name);
  ranges_.resize(dimensions_.size());
  any_ = !task.hidden.empty() && !dimensions_.empty() && limits.bytes > 0;
  if (!any_) return;

  // Every box of shapes that the task names; a case is a box of one. Zero sizes have cases of their own.
  struct Box {
    Sizes low, high, multiple;
  };
  std::vector<Box> boxes;
  for (const Case& c : task.cases) {
    const Sizes sizes = Values(c.dims);
    if (std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > 0; }))
      boxes.push_back({sizes, sizes, sizes});
  }
  std::vector<bool> varies(dimensions_.size(), false);
  for (const HiddenGroup& group : task.hidden) {
    Dims low, high, multiple;
    for (const HiddenRange& range : group.ranges) {
      low[range.dim] = RoundUp(range.low, range.multiple);
      high[range.dim] = RoundDown(range.high, range.multiple);
      multiple[range.dim] = low[range.dim] == high[range.dim] ? low[range.dim] : range.multiple;
    }
    boxes.push_back({Values(low), Values(high), Values(multiple)});
    for (size_t i = 0; i < dimensions_.size(); ++i) varies[i] = varies[i] || boxes.back().low[i] < boxes.back().high[i];
  }
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    Range& range = ranges_[i];
    range = {boxes[0].low[i], boxes[0].high[i], boxes[0].multiple[i], {}};
    std::set<int64_t> named;
    for (const Box& box : boxes) {
      range.low = std::min(range.low, box.low[i]);
      range.high = std::max(range.high, box.high[i]);
      range.multiple = std::gcd(range.multiple, box.multiple[i]);
      named.insert(box.low[i]);
    }
    if (varies[i]) {
      range.high += std::max(range.multiple, RoundDown(range.high / 8, range.multiple));
    } else {
      range.only.assign(named.begin(), named.end());
    }
  }
  for (size_t a = 0; a < dimensions_.size(); ++a) {
    for (size_t b = 0; b < dimensions_.size(); ++b) {
      if (a != b &&
          std::all_of(boxes.begin(), boxes.end(), [&](const Box& box) { return box.high[a] <= box.low[b]; })) {
        ordered_.emplace_back(a, b);
      }
    }
  }
}

Sizes FairShapes::Values(const Dims& dims) const {
  Sizes values;
  for (const std::string& name : dimensions_) values.push_back(dims.at(name));
  return values;
}

Dims FairShapes::Named(const Sizes& values) const {
  Dims dims;
  for (size_t i = 0; i < dimensions_.size(); ++i) dims[dimensions_[i]] = values[i];
  return dims;
}

std::optional<double> FairShapes::Cost(const Sizes& values) const {
  if (!any_) return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i) {
    const Range& range = ranges_[i];
    if (values[i] < range.low || values[i] > range.high || values[i] % range.multiple != 0) return std::nullopt;
    if (!range.only.empty() && !std::binary_search(range.only.begin(), range.only.end(), values[i]))
      return std::nullopt;
  }
  for (const auto& [smaller, larger] : ordered_) {
    if (values[smaller] > values[larger]) return std::nullopt;
  }
  const Dims dims = Named(values);
  double bytes = 0;
  for (const TensorSpec& tensor : task_.tensors) {
    const Result<TensorShape> shape = ResolveShape(tensor, dims);
    if (!shape.ok()) return std::nullopt;
    bytes += static_cast<double>(shape->span_bytes);
    if (tensor.role != TensorRole::kIn) bytes += 8.0 * static_cast<double>(shape->elements);  // the reference
    if (tensor.values.index_bound) {
      const Result<int64_t> bound = tensor.values.index_bound->Evaluate(dims);
      if (!bound.ok() || *bound < (tensor.values.distribution == Distribution::kOffsets ? 0 : 1)) return std::nullopt;
    }
    if (!tensor.alias.empty()) {
      const Result<TensorShape> target = ResolveShape(*task_.FindTensor(tensor.alias), dims);
      if (!target.ok() || target->shape != shape->shape || target->strides != shape->strides) return std::nullopt;
    }
  }
  const Result<double> traffic = CompulsoryBytes(task_, dims), flops = Flops(task_, dims);
  if (!traffic.ok() || !flops.ok() || *traffic < 0 || *flops < 0) return std::nullopt;
  // A task that does not say what work it is may be anything: less of it.
  const double share = bytes / static_cast<double>(limits_.bytes) * (task_.flops ? 1 : 2);
  return limits_.flops > 0 ? std::max(share, *flops / limits_.flops) : share;
}

bool FairShapes::Allows(const Sizes& values) const {
  const std::optional<double> cost = Cost(values);
  return cost && *cost <= 1;
}

bool FairShapes::InHiddenRange(const Sizes& values) const {
  const Dims dims = Named(values);
  return std::any_of(task_.hidden.begin(), task_.hidden.end(), [&](const HiddenGroup& group) {
    return std::all_of(group.ranges.begin(), group.ranges.end(), [&](const HiddenRange& range) {
      const int64_t value = dims.at(range.dim);
      return value >= range.low && value <= range.high && value % range.multiple == 0;
    });
  });
}

std::optional<Sizes> FairShapes::Shrunk(Sizes values, Rng& rng) const {
  std::optional<double> cost = Cost(values);
  while (cost && *cost > 1) {
    std::vector<std::pair<Sizes, double>> smaller;
    size_t slices = SIZE_MAX;
    for (size_t i = 0; i < values.size(); ++i) {
      const Range& range = ranges_[i];
      if (!range.only.empty()) continue;
      Sizes halved = values;
      halved[i] = Fitted(range, values[i] / 2);
      if (values[i] / range.multiple % 2 == 1 && halved[i] / range.multiple % 2 == 0) halved[i] += range.multiple;
      const std::optional<double> less = halved[i] < values[i] ? Cost(halved) : std::nullopt;
      if (!less || *less > 0.95 * *cost) continue;
      if (dimensions_[i] == task_.slice) slices = smaller.size();
      smaller.emplace_back(std::move(halved), *less);
    }
    if (smaller.empty()) return std::nullopt;
    size_t chosen = rng.Below(smaller.size());
    if (slices != SIZE_MAX && rng.Below(2) == 0) chosen = slices;
    values = std::move(smaller[chosen].first);
    cost = smaller[chosen].second;
  }
  return cost ? std::optional(values) : std::nullopt;
}

std::vector<Case> OddNeighbors(const Task& task, const FairShapes& fair, int count, uint64_t seed) {
  std::vector<Case> neighbors;
  std::vector<Sizes> timed;
  for (const Case& c : task.cases) {
    if (c.role == CaseRole::kTime && fair.any()) timed.push_back(fair.Values(c.dims));
  }
  const std::vector<FairShapes::Range>& ranges = fair.ranges();
  std::vector<size_t> free;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!ranges[i].fixed()) free.push_back(i);
  }
  Rng rng(seed);
  for (int tries = 0;
       tries < kNeighborTries && static_cast<int>(neighbors.size()) < count && !timed.empty() && !free.empty();
       ++tries) {
    Sizes values = timed[rng.Below(timed.size())];
    const auto step_aside = [&](size_t i) {
      static constexpr int64_t kSteps[] = {1, 1, 3, 8, 64};  // past a vector's end, and a whole vector further
      const int64_t sign = rng.Below(2) == 0 ? 1 : -1;
      const int64_t other = timed[rng.Below(timed.size())][i];
      const uint64_t kind = rng.Below(std::size(kSteps) + 1);
      const int64_t moved = kind < std::size(kSteps) ? values[i] + sign * kSteps[kind] * ranges[i].multiple
                                                     : (values[i] + other) / 2 + ranges[i].multiple;
      values[i] = Fitted(ranges[i], moved);
    };
    const size_t first = free[rng.Below(free.size())], second = free[rng.Below(free.size())];
    step_aside(first);
    if (second != first && rng.Below(2) == 0) step_aside(second);
    const std::optional<Sizes> fitting = fair.Shrunk(values, rng);
    if (!fitting || fair.InHiddenRange(*fitting)) continue;
    Case neighbor{fair.Named(*fitting), CaseRole::kHidden};
    const auto same = [&](const Case& c) { return c.dims == neighbor.dims; };
    if (std::any_of(task.cases.begin(), task.cases.end(), same) ||
        std::any_of(neighbors.begin(), neighbors.end(), same))
      continue;
    neighbors.push_back(std::move(neighbor));
  }
  return neighbors;
}

namespace {

// The search for one plan.
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

  // A shape that takes entry `target`, not the first best one.
  std::optional<Sizes> ShapeFor(size_t target);
  // No shape at all takes it.
  bool Unreachable(size_t target) const;
  std::optional<std::vector<size_t>> Taken(const Sizes& values) const { return entries_taken_(fair_.Named(values)); }

 private:
  bool Takes(const Sizes& values, size_t target) const {
    const std::optional<std::vector<size_t>> taken = Taken(values);
    return taken && std::find(taken->begin(), taken->end(), target) != taken->end();
  }
  std::optional<Sizes> OnlyShape(size_t target) const;
  double Distance(const Sizes& values, size_t target, double give_up_above);
  Sizes Descend(Sizes values, size_t target, double* distance);
  Sizes Walk(const Sizes& from, size_t target, Rng& rng);
  std::vector<Sizes> Starts(size_t target, Rng& rng) const;
  int64_t Spent() const {
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

// Where the condition says what each dimension is.
std::optional<Sizes> Aim::OnlyShape(size_t target) const {
  if (!conditions_[target] || conditions_[target]->pinned().size() != fair_.dimensions().size()) return std::nullopt;
  Sizes values;
  for (const auto& [dim, value] : conditions_[target]->pinned()) values.push_back(value);
  return values;
}

bool Aim::Unreachable(size_t target) const {
  if (conditions_[target] && conditions_[target]->NeverHolds()) return true;
  const std::optional<Sizes> only = OnlyShape(target);
  return only && std::all_of(only->begin(), only->end(), [](int64_t size) { return size >= 0; }) && Taken(*only) &&
         !Takes(*only, target);
}

// 0: takes the target, is fair and within the limits. Infinite: not fair.
double Aim::Distance(const Sizes& values, size_t target, double give_up_above) {
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

// Alternating variables: of one dimension after the other the best of many steps, until none makes it any nearer.
Sizes Aim::Descend(Sizes values, size_t target, double* distance) {
  *distance = Distance(values, target, kInfinity);
  for (bool nearer = true; nearer && *distance > 0 && Spent() < may_spend_;) {
    nearer = false;
    for (size_t i = 0; i < values.size() && *distance > 0 && Spent() < may_spend_; ++i) {
      const FairShapes::Range& range = fair_.ranges()[i];
      if (range.fixed()) continue;
      const int64_t at = values[i];
      Sizes moves = range.only;
      if (range.only.empty()) {
        for (int k = 0; k < kMostDoublings && (range.multiple << k) <= range.high; ++k) {
          moves.push_back(at + (range.multiple << k));
          moves.push_back(at - (range.multiple << k));
        }
        for (int k = 1; k <= kMostSnaps; ++k) {
          const int64_t snap = std::lcm(range.multiple, int64_t{1} << k);
          if (snap <= range.high) moves.insert(moves.end(), {RoundDown(at, snap), RoundUp(at + 1, snap)});
        }
        moves.insert(moves.end(), {RoundUp(range.low, range.multiple), RoundDown(range.high, range.multiple)});
        if (conditions_[target]) {
          const auto pin = conditions_[target]->pinned().find(i);
          if (pin != conditions_[target]->pinned().end()) moves.push_back(pin->second);
        }
      }
      int64_t best = at;
      for (const int64_t move : moves) {
        if (move < range.low || move > range.high || move == at) continue;
        values[i] = move;
        const double there = Distance(values, target, *distance);
        if (there < *distance) {
          *distance = there;
          best = move;
        }
      }
      values[i] = best;
      nearer = nearer || best != at;
    }
  }
  return values;
}

// Steps at random that stay within the alternative: any size of a dimension, or one as round as the conditions like
// them.
Sizes Aim::Walk(const Sizes& from, size_t target, Rng& rng) {
  Sizes values = from;
  for (int step = 0; step < kWalkSteps; ++step) {
    const size_t i = rng.Below(values.size());
    const FairShapes::Range& range = fair_.ranges()[i];
    if (range.fixed()) continue;
    Sizes next = values;
    if (!range.only.empty()) {
      next[i] = range.only[rng.Below(range.only.size())];
    } else {
      next[i] = LogUniform(rng, range, static_cast<double>(values[i]) / 2, static_cast<double>(values[i]) * 2);
      if (rng.Below(2) == 0) {
        const int64_t round = std::lcm(range.multiple, int64_t{1} << (1 + rng.Below(8)));
        next[i] = RoundDown(next[i], round);
      }
    }
    if (next[i] != values[i] && next[i] >= range.low && next[i] <= range.high && Distance(next, target, 0) == 0)
      values = std::move(next);
  }
  return values;
}

// Timed shapes and what is left of them within the limits, the cases, and shapes at random; the nearest first.
std::vector<Sizes> Aim::Starts(size_t target, Rng& rng) const {
  std::vector<Sizes> starts;
  for (const Case& c : task_.cases) {
    Sizes values = fair_.Values(c.dims);
    for (size_t i = 0; i < values.size(); ++i) values[i] = Fitted(fair_.ranges()[i], values[i]);
    if (const std::optional<Sizes> fitting = fair_.Shrunk(values, rng)) starts.push_back(*fitting);
  }
  for (int n = 0; n < kRandomStarts; ++n) {
    Sizes values;
    for (const FairShapes::Range& range : fair_.ranges()) {
      values.push_back(range.only.empty() ? LogUniform(rng, range, 1, static_cast<double>(range.high))
                                          : range.only[rng.Below(range.only.size())]);
    }
    if (const std::optional<Sizes> fitting = fair_.Shrunk(values, rng)) starts.push_back(*fitting);
  }
  // What the condition fixes, a start should have.
  if (conditions_[target]) {
    for (Sizes& values : starts) {
      for (const auto& [dim, value] : conditions_[target]->pinned()) values[dim] = Fitted(fair_.ranges()[dim], value);
    }
  }
  return starts;
}

std::optional<Sizes> Aim::ShapeFor(size_t target) {
  if (const std::optional<Sizes> only = OnlyShape(target)) {
    return fair_.Allows(*only) && Takes(*only, target) ? only : std::nullopt;
  }
  Rng rng = Rng(seed_).Split(target);
  const int64_t spent = Spent();
  if (spent >= kMostComparisons) return std::nullopt;
  may_spend_ = std::min(kMostComparisons, spent + kMostComparisonsEach);
  std::vector<std::pair<double, Sizes>> starts;
  for (Sizes& start : Starts(target, rng)) starts.emplace_back(Distance(start, target, kInfinity), std::move(start));
  std::stable_sort(starts.begin(), starts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [unused, start] : starts) {
    if (Spent() >= may_spend_) break;
    double distance = 0;
    const Sizes found = Descend(start, target, &distance);
    if (distance > 0 || !Takes(found, target)) continue;
    const Sizes walked = Walk(found, target, rng);
    return Takes(walked, target) ? walked : found;
  }
  return std::nullopt;
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
    if (aim.Unreachable(target)) {
      aimed.unreachable.insert(target);
      continue;
    }
    if (static_cast<int>(aimed.cases.size()) >= most) continue;
    const std::optional<Sizes> shape = aim.ShapeFor(target);
    if (!shape) continue;
    const std::optional<std::vector<size_t>> entries = aim.Taken(*shape);
    aimed.taken.insert(entries->begin(), entries->end());
    aimed.cases.push_back({fair.Named(*shape), CaseRole::kHidden});
  }
  return aimed;
}

AimedShapes ShapesBeyond(const Task& task, const LaunchPlan& plan, const Binding& binding, const DeviceFacts& facts,
                         const std::set<size_t>& checked, const EntriesTaken& entries_taken,
                         const BeyondOptions& options, uint64_t seed) {
  const FairShapes fair(task, options.limits);
  const Rng secrets(seed);
  AimedShapes all;
  all.cases = OddNeighbors(task, fair, options.neighbors, secrets.Split(0).Next());
  const auto note = [&](const Dims& dims, std::set<size_t>* entries) {
    if (const std::optional<std::vector<size_t>> taken = entries_taken(dims))
      entries->insert(taken->begin(), taken->end());
  };
  for (const Case& neighbor : all.cases) note(neighbor.dims, &all.taken);
  std::set<size_t> timed;
  for (const Case& c : task.cases) {
    if (options.timed && c.role == CaseRole::kTime) note(c.dims, &timed);
  }
  int left = options.aimed;
  for (const bool timed_ones : {false, true}) {
    std::set<size_t> taken = checked;
    taken.insert(all.taken.begin(), all.taken.end());
    taken.insert(all.unreachable.begin(), all.unreachable.end());
    if (!timed_ones) taken.insert(timed.begin(), timed.end());
    AimedShapes aimed = AimAtAlternatives(task, plan, binding, facts, fair, taken, entries_taken, left,
                                          secrets.Split(timed_ones ? 2 : 1).Next());
    left -= static_cast<int>(aimed.cases.size());
    all.cases.insert(all.cases.end(), aimed.cases.begin(), aimed.cases.end());
    all.taken.merge(aimed.taken);
    all.unreachable.merge(aimed.unreachable);
  }
  return all;
}

}  // namespace hone
