// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which shapes a task may fairly be asked for beyond those that it names, and the neighbors of its timed shapes among
// them.
//
// A candidate is judged by shapes that the task's author never wrote down; what makes sense there is read off what they
// did write. Pure functions of their arguments: no device, no plan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/rounding.h"
#include "hone/tuner/task.h"

namespace hone {

// What one shape may cost: bytes of the tensors and of the oracle's references to them, and operations.
struct ShapeLimits {
  int64_t bytes = 0;
  double flops = 0;
};

// The shapes that a task may fairly be asked for: each dimension between the least and the largest size that a case or
// a hidden range names, or a little more (64 multiples, an eighth at most), in multiples of what all of them are
// multiples of; one of the sizes named where every hidden range fixes it; two dimensions in the order of size that they
// have in all of them; in the relations that hidden ranges state; and all that the task derives of them (extents,
// bounds of indices, work) makes sense. A task without hidden ranges serves its cases and nothing else. Borrows the
// task.
class FairShapes {
 public:
  FairShapes(const Task& task, const ShapeLimits& limits);

  struct Range {
    int64_t low = 1, high = 1, multiple = 1;
    std::vector<int64_t> only;  // ascending; not empty: these sizes alone
    bool fixed() const { return only.size() == 1 || (only.empty() && low == high); }
    int64_t Fitted(int64_t value) const;                      // the nearest size below it, or the least
    int64_t Draw(Rng& rng, double least, double most) const;  // uniform on a logarithmic scale between the two
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

// `count` different neighbors of timed shapes that lie in no hidden range and that `serves` accepts: one or two
// dimensions a few steps or half the way to another timed size off, and then as much smaller as the limits ask for.
// Fewer where there are none.
std::vector<Case> OddNeighbors(const Task& task, const FairShapes& fair, int count,
                               const std::function<bool(const Dims&)>& serves, uint64_t seed);

}  // namespace hone
