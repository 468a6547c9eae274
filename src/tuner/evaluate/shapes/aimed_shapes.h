// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes beyond a task's hidden ranges that a candidate is checked with on a device where a check costs milliseconds:
// odd neighbors of the timed shapes, and for each alternative of the plan a shape that takes it.
//
// The hidden ranges are small, so that a simulated GPU gets through them; a kernel may be right in all of them and at
// the timed shapes, and wrong in between. What a task allows there is read off what it names (FairShapes). The shapes
// follow from a secret seed and nothing else: the same seed gives the same ones, on any machine, however loaded.
//
// Method of the search: alternating variables over the branch distance of the plan's conditions (Korel, Automated
// software test data generation, 1990), and then a random walk within the alternative, so that nobody knows which shape
// it will be. Pure functions of their arguments: no device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"

namespace hone {

// What one shape may cost: bytes of the tensors and of the oracle's references to them, and operations.
struct ShapeLimits {
  int64_t bytes = 0;
  double flops = 0;
};

// The shapes that a task may fairly be asked for: each dimension between the least and (an eighth beyond) the largest
// size that a case or a hidden range names, in multiples of what all of them are multiples of; one of the sizes named
// where every hidden range fixes it; two dimensions in the order of size that they have in all of them; and all that
// the task derives of them (extents, bounds of indices, work) makes sense. A task without hidden ranges serves its
// cases and nothing else. Borrows the task.
class FairShapes {
 public:
  FairShapes(const Task& task, const ShapeLimits& limits);

  struct Range {
    int64_t low = 1, high = 1, multiple = 1;
    std::vector<int64_t> only;  // ascending; not empty: these sizes alone
    bool fixed() const { return only.size() == 1 || (only.empty() && low == high); }
  };
  bool any() const { return any_; }
  const std::vector<std::string>& dimensions() const { return dimensions_; }
  const std::vector<Range>& ranges() const { return ranges_; }

  // What the limits are compared with, as a factor: 1 is at the limit. nullopt: not a fair shape.
  std::optional<double> Cost(const std::vector<int64_t>& values) const;
  bool Allows(const std::vector<int64_t>& values) const;  // fair and within the limits
  bool InHiddenRange(const std::vector<int64_t>& values) const;
  // Halves dimensions, as often the slices as others, until the shape is within the limits; odd multiples stay odd.
  // nullopt: that cannot be.
  std::optional<std::vector<int64_t>> Shrunk(std::vector<int64_t> values, Rng& rng) const;

  std::vector<int64_t> Values(const Dims& dims) const;
  Dims Named(const std::vector<int64_t>& values) const;

 private:
  const Task& task_;
  ShapeLimits limits_;
  bool any_ = false;
  std::vector<std::string> dimensions_;
  std::vector<Range> ranges_;
  std::vector<std::pair<size_t, size_t>> ordered_;  // the first is never larger than the second
};

// `count` different neighbors of timed shapes that lie in no hidden range: one or two dimensions a few
// steps or half the way to another timed size off, and then as much smaller as the limits ask for. Fewer where there
// are none.
std::vector<Case> OddNeighbors(const Task& task, const FairShapes& fair, int count, uint64_t seed);

// Which entries of the plan serve a shape; nullopt: it does not resolve there.
using EntriesTaken = std::function<std::optional<std::vector<size_t>>(const Dims&)>;

struct AimedShapes {
  std::vector<Case> cases;       // role kHidden
  std::set<size_t> taken;        // entries of the plan that `cases` take
  std::set<size_t> unreachable;  // entries that no shape takes: by their constants, or by the only shape they allow
};

// For each alternative that is not in `taken`, in the plan's order, a shape that takes it; at most `most` shapes.
// `binding` and `facts` as the plan is resolved with; `entries_taken` has the last word.
AimedShapes AimAtAlternatives(const Task& task, const LaunchPlan& plan, const Binding& binding,
                              const DeviceFacts& facts, const FairShapes& fair, const std::set<size_t>& taken,
                              const EntriesTaken& entries_taken, int most, uint64_t seed);

// What one evaluation checks beyond the hidden ranges: `neighbors` odd neighbors, and at most `aimed` shapes for the
// alternatives that are not in `checked`, those first that no timed shape takes either (`timed`: the shapes will be).
struct BeyondOptions {
  ShapeLimits limits;
  int neighbors = 0;
  int aimed = 0;
  bool timed = true;
};
AimedShapes ShapesBeyond(const Task& task, const LaunchPlan& plan, const Binding& binding, const DeviceFacts& facts,
                         const std::set<size_t>& checked, const EntriesTaken& entries_taken,
                         const BeyondOptions& options, uint64_t seed);

}  // namespace hone
