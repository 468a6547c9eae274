// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fair shapes are the shapes with which a task may fairly be tested beyond those that it names. Among them are the
// neighbors of its timed shapes.
//
// A candidate is judged by shapes that the task's author never wrote down; which of them make sense is derived from
// those that the author did write. All functions are pure functions of their arguments: no device, no plan.
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

// ShapeLimits say how much one shape may cost: bytes of the tensors and of the oracle's references to them, and
// operations.
struct ShapeLimits {
  int64_t bytes = 0;
  double flops = 0;
};

// FairShapes are the shapes with which a task may fairly be tested. Each dimension lies between the least and the
// largest size that a case or a hidden range names, or a little beyond (64 multiples, an eighth at most), and is a
// multiple of the common divisor of those sizes. A dimension that every hidden range fixes has one of the sizes named.
// Two dimensions keep the order of size that they have in all of them, and the relations that hidden ranges state.
// Everything that the task derives from them (extents, bounds of indices, work) makes sense. A task without hidden
// ranges serves its cases and nothing else. Borrows the task.
class FairShapes {
 public:
  FairShapes(const Task& task, const ShapeLimits& limits);

  struct Range {
    int64_t low = 1, high = 1, multiple = 1;
    std::vector<int64_t> only;  // ascending; not empty: these sizes alone
    bool fixed() const { return only.size() == 1 || (only.empty() && low == high); }
    int64_t Fitted(int64_t value) const;                      // the nearest allowed size below it, or the least
    int64_t Draw(Rng& rng, double least, double most) const;  // uniform on a logarithmic scale between the two
  };
  bool any() const { return any_; }
  const std::vector<std::string>& dimensions() const { return dimensions_; }
  const std::vector<Range>& ranges() const { return ranges_; }

  // Returns the cost as a factor of the limits: 1 is at the limit. nullopt where the shape is not fair.
  std::optional<double> Cost(const std::vector<int64_t>& values) const;
  bool Allows(const std::vector<int64_t>& values) const;  // fair and within the limits
  bool InHiddenRange(const std::vector<int64_t>& values) const;
  // Halves dimensions, slices as often as others, until the shape is within the limits; odd multiples stay odd. nullopt
  // where that is impossible.
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

// Returns `count` different neighbors of timed shapes that lie in no hidden range and that `serves` accepts; fewer
// where there are not so many. In a neighbor, one or two dimensions are off by a few steps or by half the way to
// another timed size, and then all are reduced as far as the limits require.
std::vector<Case> OddNeighbors(const Task& task, const FairShapes& fair, int count,
                               const std::function<bool(const Dims&)>& serves, uint64_t seed);

// Returns up to two different shapes of extreme proportions that `serves` accepts and no hidden range holds: one with
// `many` slices to twice as many and little else, where blocks take more than one slice each, and one with hardly any slices and
// one other dimension as large as the limits allow. Neither need be near a timed shape.
std::vector<Case> StretchedShapes(const Task& task, const FairShapes& fair, int64_t many,
                                  const std::function<bool(const Dims&)>& serves, uint64_t seed);

// Returns a shape that `serves` accepts with a tensor of more than `elements` elements, by half at most; an output if any
// can be so large. nullopt where the task's sizes do not allow that, or none was found.
std::optional<Case> VastShape(const Task& task, const FairShapes& fair, int64_t elements,
                              const std::function<bool(const Dims&)>& serves, uint64_t seed);

}  // namespace hone
