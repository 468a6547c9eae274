// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// ConditionDistance says how far a shape is from meeting a condition over dimensions, such as an alternative's "d % 4
// == 0 && rows * d > 4194304": a number that a search can reduce step by step.
//
// The measure is the branch distance of search-based test generation (Korel 1990; Tracey, Clark and Mander 1998). The
// distance of a failing comparison is the difference of its two sides, mapped into (0, 1). The distance of a
// conjunction is the sum of its parts', that of a disjunction the least of its parts'. It is 0 exactly where the
// condition holds.
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
  // Parts that need a resolved plan (align(x), stride(x, i)) are unknown: they count as holding in ToHold and as
  // failing in ToFail.
  ConditionDistance(const Expression& condition, const std::vector<std::string>& dimensions,
                    const std::map<std::string, int64_t>& constants);
  ~ConditionDistance();
  ConditionDistance(ConditionDistance&&) noexcept;
  ConditionDistance& operator=(ConditionDistance&&) noexcept;

  // Return the distance of `values` from meeting the condition and from violating it; 0 where they do, as far as can be
  // known without a plan. A part that has no value (a division by zero, an overflow) has distance 1 from both.
  double ToHold(const std::vector<int64_t>& values) const;
  double ToFail(const std::vector<int64_t>& values) const;

  // Returns true if no shape meets the condition, because a part that names no dimension does not hold.
  bool NeverHolds() const;
  // Returns the value of each dimension (by position) that the condition fixes by a part `dimension == value`, where
  // all parts must hold.
  const std::map<size_t, int64_t>& pinned() const { return pinned_; }
  // Returns the number of comparisons evaluated by this object so far, the unit of a search's budget. A comparison with
  // a long text counts as several.
  int64_t comparisons() const { return comparisons_; }

 private:
  struct Part;
  // Returns the distance of `values` from meeting the part; if not `hold`, from violating it.
  double Distance(const Part& part, bool hold, const std::vector<int64_t>& values) const;
  std::unique_ptr<Part> ParsePart(std::string_view text) const;
  std::unique_ptr<Part> ParseComparison(std::string_view left, std::string_view comparison,
                                        std::string_view right) const;

  std::vector<std::string> dimensions_;
  std::map<std::string, int64_t> constants_;
  mutable int parts_ = 0;  // parts made by ParsePart; declared before root_, whose initialiser calls it
  std::unique_ptr<Part> root_;
  std::map<size_t, int64_t> pinned_;
  mutable int64_t comparisons_ = 0;
};

}  // namespace hone
