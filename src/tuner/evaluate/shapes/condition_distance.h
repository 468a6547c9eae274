// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a shape is from meeting a condition over dimensions, such as an alternative's
// "d % 4 == 0 && rows * d > 4194304": a number that a search can walk down.
//
// The measure is the branch distance of search-based test generation (Korel 1990; Tracey, Clark and Mander 1998):
// a comparison that fails is as far as its two sides lie apart, mapped into (0, 1); a conjunction is the sum of its
// parts, a disjunction the nearest of them; 0 exactly where the condition holds. Pure arithmetic: no plan, no device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hone/tuner/expression.h"

namespace hone {

class ConditionDistance {
 public:
  // `condition` over `dimensions` (its values come in this order) and `constants` (tunables, facts of the device).
  // Parts that ask for what only a resolved plan knows (align(x), stride(x, i)) count as met either way.
  ConditionDistance(const Expression& condition, const std::vector<std::string>& dimensions,
                    const std::map<std::string, int64_t>& constants);
  ~ConditionDistance();
  ConditionDistance(ConditionDistance&&) noexcept;
  ConditionDistance& operator=(ConditionDistance&&) noexcept;

  // 0: `values` meet it, as far as can be told here. A part that has no value there (a division by zero, an overflow)
  // is 1 from holding and 1 from failing.
  double ToHold(const std::vector<int64_t>& values) const;
  double ToFail(const std::vector<int64_t>& values) const;

  // No shape meets it: a part that names no dimension does not hold.
  bool NeverHolds() const;
  // What `dimension == value` parts, all of which must hold, say of the dimensions, by position.
  const std::map<size_t, int64_t>& pinned() const { return pinned_; }
  // Comparisons worked out by this object so far, long ones counted for as many as their text is long: the unit in which
  // searches are budgeted.
  int64_t comparisons() const { return comparisons_; }

 private:
  struct Part;
  double Distance(const Part& part, bool hold, const std::vector<int64_t>& values) const;
  std::unique_ptr<Part> Read(std::string_view text) const;
  std::unique_ptr<Part> Leaf(std::string_view left, std::string_view comparison, std::string_view right) const;

  std::vector<std::string> dimensions_;
  std::map<std::string, int64_t> constants_;
  mutable int parts_ = 0;  // made by Read; before root_, which is read with it
  std::unique_ptr<Part> root_;
  std::map<size_t, int64_t> pinned_;
  mutable int64_t comparisons_ = 0;
};

}  // namespace hone
