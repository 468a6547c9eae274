// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// ConditionDistance says how far a shape is from meeting a condition over dimensions, such as an alternative's "d % 4
// == 0 && rows * d > 4194304": a number that a search can reduce step by step.
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
  // Takes `condition` over `dimensions` (values come in this order) and `constants` (tunables, facts of the device).
  // Parts that need a resolved plan (align(x), stride(x, i)) count as met either way.
  ConditionDistance(const Expression& condition, const std::vector<std::string>& dimensions,
                    const std::map<std::string, int64_t>& constants);
  ~ConditionDistance();
  ConditionDistance(ConditionDistance&&) noexcept;
  ConditionDistance& operator=(ConditionDistance&&) noexcept;

  // Returns 0 where `values` meet the condition, as far as can be known here. A part that has no value there (a
  // division by zero, an overflow) is 1 from holding and 1 from failing.
  double ToHold(const std::vector<int64_t>& values) const;
  double ToFail(const std::vector<int64_t>& values) const;

  // Returns whether no shape meets the condition: a part that names no dimension does not hold.
  bool NeverHolds() const;
  // Returns the dimensions, by position, that parts `dimension == value` fix, where all parts must hold.
  const std::map<size_t, int64_t>& pinned() const { return pinned_; }
  // Returns the comparisons evaluated by this object so far; a long one counts as several, by the length of its text.
  // Searches are budgeted in this unit.
  int64_t comparisons() const { return comparisons_; }

 private:
  struct Part;
  double Distance(const Part& part, bool hold, const std::vector<int64_t>& values) const;
  std::unique_ptr<Part> Read(std::string_view text) const;
  std::unique_ptr<Part> Leaf(std::string_view left, std::string_view comparison, std::string_view right) const;

  std::vector<std::string> dimensions_;
  std::map<std::string, int64_t> constants_;
  mutable int parts_ = 0;  // parts made by Read; stands before root_, which is read with it
  std::unique_ptr<Part> root_;
  std::map<size_t, int64_t> pinned_;
  mutable int64_t comparisons_ = 0;
};

}  // namespace hone
