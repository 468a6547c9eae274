// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fair shapes are shapes with which a task may be tested although the task does not name them. Some of them are
// neighbors of its timed shapes.
//
// A candidate is judged by shapes that the task's author never wrote down. Which shapes make sense is derived from
// those that the author did write. All functions are pure functions of their arguments: no device, no plan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers/random.h"
#include "base/numbers/rounding.h"
#include "hone/tuner/task.h"

namespace hone {

// ShapeLimits say how much one shape may cost: bytes of the tensors and of the oracle's references to them, and
// operations.
struct ShapeLimits {
  int64_t bytes = 0;
  double flops = 0;
};

// FairShapes are the shapes with which a task may fairly be tested. The sizes of their dimensions follow these rules:
//   * A dimension lies between the least and the largest size that a case or a hidden range names, or a little above
//     (by up to an eighth and up to 64 multiples), and is a multiple of the common divisor of those sizes.
//   * A dimension that every hidden range fixes has one of the named sizes.
//   * If one dimension is never larger than another in the named shapes, so it is here; relations that hidden ranges
//     state hold.
//   * Everything that the task derives from the dimensions (extents, bounds of indices, work) is valid.
// A task without hidden ranges has no fair shapes besides its own cases. Borrows the task.
class FairShapes {
 public:
  FairShapes(const Task& task, const ShapeLimits& limits);

  struct Range {
    int64_t low = 1, high = 1, multiple = 1;
    std::vector<int64_t> only;  // ascending; if not empty, only these sizes are allowed
    bool fixed() const { return only.size() == 1 || (only.empty() && low == high); }
    int64_t LargestAllowed(int64_t value) const;              // returns the largest allowed size <= value, or the least
    int64_t Draw(Rng& rng, double least, double most) const;  // draws a size, uniform on a logarithmic scale
  };
  bool any() const { return any_; }  // returns whether there are fair shapes
  const std::vector<std::string>& dimensions() const { return dimensions_; }
  const std::vector<Range>& ranges() const { return ranges_; }

  // Returns the shape's cost relative to the limits: 1 is at the limit. Returns nullopt if the shape is not fair.
  std::optional<double> Cost(const std::vector<int64_t>& values) const;
  bool Allows(const std::vector<int64_t>& values) const;  // returns whether the shape is fair and within the limits
  bool InHiddenRange(const std::vector<int64_t>& values) const;
  // Returns the shape with dimensions halved until it is within the limits; nullopt if that is impossible. At least
  // half of the halvings, where they help, are of the slice dimension. Odd multiples stay odd.
  std::optional<std::vector<int64_t>> HalvedToLimits(std::vector<int64_t> values, Rng& rng) const;

  // Convert a shape between sizes by dimension name and sizes in the order of dimensions().
  std::vector<int64_t> Values(const Dims& dims) const;
  Dims DimsOf(const std::vector<int64_t>& values) const;

 private:
  const Task& task_;
  ShapeLimits limits_;
  bool any_ = false;  // there are fair shapes
  std::vector<std::string> dimensions_;
  std::vector<Range> ranges_;
  std::vector<std::pair<size_t, size_t>> ordered_;  // pairs of dimensions whose first is never larger than its second
};

// Returns up to `count` different neighbors of timed shapes that lie in no hidden range and that `serves` accepts. In a
// neighbor, one or two dimensions are off by a few steps or by half the way to another timed size; all dimensions are
// then reduced as far as the limits require.
std::vector<Case> OddNeighbors(const Task& task, const FairShapes& fair, int count,
                               const std::function<bool(const Dims&)>& serves, uint64_t seed);

// Returns up to two shapes of extreme proportions that `serves` accepts and that lie in no hidden range. One has `many`
// to 2 * `many` slices and small other dimensions, so that a block takes more than one slice. The other has at most
// three slices and one dimension as large as the limits allow. Neither need be near a timed shape.
std::vector<Case> StretchedShapes(const Task& task, const FairShapes& fair, int64_t many,
                                  const std::function<bool(const Dims&)>& serves, uint64_t seed);

// Returns a shape that `serves` accepts and in which some tensor has more than `elements` elements, at most 1.5 times
// as many. That tensor is an output, if an output can be so large. Returns nullopt if the task's sizes do not allow
// that, or no such shape was found.
std::optional<Case> VastShape(const Task& task, const FairShapes& fair, int64_t elements,
                              const std::function<bool(const Dims&)>& serves, uint64_t seed);

}  // namespace hone
