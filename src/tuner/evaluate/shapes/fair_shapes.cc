// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/shapes/fair_shapes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace hone {
namespace {

using Sizes = std::vector<int64_t>;

constexpr int kNeighborTries = 64;    // draws of a shape before it is given up
constexpr int64_t kStepsBeyond = 64;  // limit on a size: this many multiples above the largest named size
constexpr int64_t kShareBeyond = 8;   // a size is at most one part in this many above the largest named one

}  // namespace

int64_t FairShapes::Range::LargestAllowed(int64_t value) const {
  if (!only.empty()) {
    const auto above = std::upper_bound(only.begin(), only.end(), value);
    return above == only.begin() ? only.front() : *std::prev(above);
  }
  return std::clamp(RoundDown(value, multiple), low, high);
}

int64_t FairShapes::Range::Draw(Rng& rng, double least, double most) const {
  if (!only.empty()) return only[rng.Below(only.size())];
  least = std::max(least, static_cast<double>(low));
  most = std::clamp(most, least, std::max(least, static_cast<double>(high)));
  return LargestAllowed(static_cast<int64_t>(least * std::pow((most + 1) / least, rng.Uniform())));
}

FairShapes::FairShapes(const Task& task, const ShapeLimits& limits) : task_(task), limits_(limits) {
  for (const auto& [name, text] : task.dims) dimensions_.push_back(name);
  ranges_.resize(dimensions_.size());
  any_ = !task.hidden.empty() && !dimensions_.empty() && limits.bytes > 0;
  if (!any_) return;

  // A Box is a set of shapes that the task names: a hidden group, or a case, which is a box of one shape. Cases with a
  // size of 0 are left out.
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
      range.high += std::clamp(RoundDown(range.high / kShareBeyond, range.multiple), range.multiple,
                               kStepsBeyond * range.multiple);
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

Dims FairShapes::DimsOf(const Sizes& values) const {
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
  const Dims dims = DimsOf(values);
  if (!KeepsRelations(task_.hidden, dims)) return std::nullopt;
  double bytes = 0;
  for (const TensorSpec& tensor : task_.tensors) {
    const Result<TensorShape> shape = ResolveShape(tensor, dims);
    if (!shape.ok()) return std::nullopt;
    bytes += static_cast<double>(shape->span_bytes);
    if (tensor.role != TensorRole::kIn) bytes += 8.0 * static_cast<double>(shape->elements);  // the oracle's reference
    if (!CheckDrawable(tensor, *shape, dims).ok()) return std::nullopt;
    if (!tensor.alias.empty()) {
      const Result<TensorShape> target = ResolveShape(*task_.FindTensor(tensor.alias), dims);
      if (!target.ok() || target->shape != shape->shape || target->strides != shape->strides) return std::nullopt;
    }
  }
  const Result<double> traffic = CompulsoryBytes(task_, dims), flops = Flops(task_, dims);
  if (!traffic.ok() || !flops.ok() || *traffic < 0 || *flops < 0) return std::nullopt;
  // A task that does not state its operations may be expensive, so its bytes count twice.
  const double share = bytes / static_cast<double>(limits_.bytes) * (task_.flops ? 1 : 2);
  return limits_.flops > 0 ? std::max(share, *flops / limits_.flops) : share;
}

bool FairShapes::Allows(const Sizes& values) const {
  const std::optional<double> cost = Cost(values);
  return cost && *cost <= 1;
}

bool FairShapes::InHiddenRange(const Sizes& values) const {
  const Dims dims = DimsOf(values);
  return std::any_of(task_.hidden.begin(), task_.hidden.end(), [&](const HiddenGroup& group) {
    return std::all_of(group.ranges.begin(), group.ranges.end(), [&](const HiddenRange& stated) {
      const std::optional<HiddenRange> range = ResolveRange(stated, dims);
      const int64_t value = dims.at(stated.dim);
      return range && value >= range->low && value <= range->high && value % range->multiple == 0;
    });
  });
}

std::optional<Sizes> FairShapes::HalvedToLimits(Sizes values, Rng& rng) const {
  std::optional<double> cost = Cost(values);
  while (cost && *cost > 1) {
    std::vector<std::pair<Sizes, double>> smaller;
    size_t slices = SIZE_MAX;
    for (size_t i = 0; i < values.size(); ++i) {
      const Range& range = ranges_[i];
      if (!range.only.empty()) continue;
      Sizes halved = values;
      halved[i] = range.LargestAllowed(values[i] / 2);
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

std::vector<Case> OddNeighbors(const Task& task, const FairShapes& fair, int count,
                               const std::function<bool(const Dims&)>& serves, uint64_t seed) {
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
      static constexpr int64_t kSteps[] = {1, 1, 3, 8, 64};  // in multiples: past a vector's end, or by whole vectors
      const int64_t sign = rng.Below(2) == 0 ? 1 : -1;
      const int64_t other = timed[rng.Below(timed.size())][i];
      const uint64_t kind = rng.Below(std::size(kSteps) + 1);
      const int64_t moved = kind < std::size(kSteps) ? values[i] + sign * kSteps[kind] * ranges[i].multiple
                                                     : (values[i] + other) / 2 + ranges[i].multiple;
      values[i] = ranges[i].LargestAllowed(moved);
    };
    const size_t first = free[rng.Below(free.size())], second = free[rng.Below(free.size())];
    step_aside(first);
    if (second != first && rng.Below(2) == 0) step_aside(second);
    const std::optional<Sizes> fitting = fair.HalvedToLimits(values, rng);
    if (!fitting || fair.InHiddenRange(*fitting)) continue;
    Case neighbor{fair.DimsOf(*fitting), CaseRole::kHidden};
    if (!serves(neighbor.dims)) continue;
    const auto has_same_dims = [&](const Case& c) { return c.dims == neighbor.dims; };
    if (std::any_of(task.cases.begin(), task.cases.end(), has_same_dims) ||
        std::any_of(neighbors.begin(), neighbors.end(), has_same_dims))
      continue;
    neighbors.push_back(std::move(neighbor));
  }
  return neighbors;
}

std::vector<Case> StretchedShapes(const Task& task, const FairShapes& fair, int64_t many,
                                  const std::function<bool(const Dims&)>& serves, uint64_t seed) {
  std::vector<Case> shapes;
  if (!fair.any()) return shapes;
  Rng rng(seed);
  const std::vector<FairShapes::Range>& ranges = fair.ranges();
  std::vector<size_t> others;
  size_t slices = SIZE_MAX;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (fair.dimensions()[i] == task.slice) {
      slices = i;
    } else if (!ranges[i].fixed()) {
      others.push_back(i);
    }
  }
  const auto add = [&](const Sizes& values) {
    if (!fair.Allows(values) || fair.InHiddenRange(values)) return;
    Case shape{fair.DimsOf(values), CaseRole::kHidden};
    const auto has_same_dims = [&](const Case& c) { return c.dims == shape.dims; };
    if (!serves(shape.dims) || std::any_of(task.cases.begin(), task.cases.end(), has_same_dims)) return;
    shapes.push_back(std::move(shape));
  };
  const auto is_small = [&](size_t i) {
    const double low = static_cast<double>(std::max<int64_t>(1, ranges[i].low));
    return ranges[i].Draw(rng, 1, 2 * std::sqrt(low * static_cast<double>(std::max<int64_t>(1, ranges[i].high))));
  };
  const auto drawn = [&](size_t large, double least, double most) {
    Sizes values(ranges.size());
    for (size_t i = 0; i < ranges.size(); ++i) values[i] = is_small(i);
    values[large] = ranges[large].Draw(rng, least, most);
    return values;
  };
  // Returns `values` with the size of dimension `large` halved until the shape is allowed; nullopt if it falls below
  // `least`.
  const auto fitted = [&](Sizes values, size_t large, int64_t least) -> std::optional<Sizes> {
    for (int step = 0; step < 40; ++step) {
      if (fair.Allows(values)) return values;
      const int64_t halved = ranges[large].LargestAllowed(values[large] / 2);
      if (halved < least || halved >= values[large]) return std::nullopt;
      values[large] = halved;
    }
    return std::nullopt;
  };
  if (slices != SIZE_MAX && !ranges[slices].fixed() && ranges[slices].high >= many) {
    for (int attempt = 0; attempt < kNeighborTries && shapes.empty(); ++attempt) {
      // A random shape has `many` to twice as many slices, and is made smaller until the task allows it.
      const Sizes random = drawn(slices, static_cast<double>(many), 2.0 * static_cast<double>(many));
      if (const auto values = fitted(random, slices, many)) add(*values);
    }
  }
  const size_t before = shapes.size();
  for (int attempt = 0; attempt < kNeighborTries && shapes.size() == before && !others.empty(); ++attempt) {
    const size_t large = others[rng.Below(others.size())];
    const double high = static_cast<double>(ranges[large].high);
    Sizes values = drawn(large, high / 4, high);
    if (slices != SIZE_MAX) values[slices] = ranges[slices].Draw(rng, 1, 3);
    if (const auto wide = fitted(values, large, 1)) add(*wide);
  }
  return shapes;
}

std::optional<Case> VastShape(const Task& task, const FairShapes& fair, int64_t elements,
                              const std::function<bool(const Dims&)>& serves, uint64_t seed) {
  if (!fair.any()) return std::nullopt;
  Rng rng(seed);
  const std::vector<FairShapes::Range>& ranges = fair.ranges();
  const auto count = [&](const TensorSpec& tensor, const Sizes& values) {
    const Result<TensorShape> shape = ResolveShape(tensor, fair.DimsOf(values));
    return shape.ok() ? shape->elements : 0;
  };
  Sizes largest;
  for (const FairShapes::Range& range : ranges) largest.push_back(range.only.empty() ? range.high : range.only.back());
  for (const bool outputs : {true, false}) {
    for (const TensorSpec& tensor : task.tensors) {
      if ((tensor.role != TensorRole::kIn) != outputs || count(tensor, largest) <= elements) continue;
      for (int attempt = 0; attempt < kNeighborTries; ++attempt) {
        Sizes values;
        for (const FairShapes::Range& range : ranges) values.push_back(range.Draw(rng, 1, static_cast<double>(range.high)));
        const double wanted_elements = static_cast<double>(elements) * (1.05 + 0.4 * rng.Uniform());
        // One dimension after the other, from a random one on, is scaled so that the tensor has the wanted elements.
        const size_t first = rng.Below(values.size());
        for (size_t i = 0; i < values.size(); ++i) {
          const size_t at = (first + i) % values.size();
          const double elements_now = static_cast<double>(std::max<int64_t>(1, count(tensor, values)));
          if (!ranges[at].only.empty() || std::fabs(elements_now / wanted_elements - 1) < 0.03) continue;
          const int64_t before = values[at];
          const double proposed = static_cast<double>(before) * wanted_elements / elements_now;
          values[at] =
              ranges[at].LargestAllowed(static_cast<int64_t>(std::min(proposed, static_cast<double>(ranges[at].high))));
          if (count(tensor, values) == static_cast<int64_t>(elements_now))
            values[at] = before;  // not a dimension of the tensor
        }
        const int64_t elements_found = count(tensor, values);
        if (elements_found <= elements || elements_found > elements / 2 * 3 || !fair.Allows(values)) continue;
        Case shape{fair.DimsOf(values), CaseRole::kHidden};
        if (serves(shape.dims)) return shape;
      }
    }
  }
  return std::nullopt;
}

}  // namespace hone
