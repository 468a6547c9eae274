// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/shapes/condition_distance.h"

#include <gtest/gtest.h>

#include "base/numbers/random.h"

namespace hone {
namespace {

ConditionDistance DistanceOf(const std::string& text, const std::map<std::string, int64_t>& constants = {}) {
  Result<Expression> condition = Expression::Parse(text);
  EXPECT_TRUE(condition.ok()) << text << ": " << condition.status().message();
  return ConditionDistance(*condition, {"rows", "d"}, constants);
}

// For every form of condition, ToHold is zero exactly where the expression holds, and ToFail exactly where it fails.
TEST(ConditionDistance, IsZeroExactlyWhereTheConditionHolds) {
  const std::map<std::string, int64_t> constants = {{"VEC", 4}, {"sm_count", 6}};
  for (const std::string text :
       {"d % VEC == 0", "d % 4 != 0 && d <= 12", "rows * d > 30", "rows >= 3 || d < 5", "!(rows == 2)", "!rows", "d",
        "rows - 3", "(rows <= 4) && (d % 2 == 0 && VEC == 4 || d > 17)", "rows > 3 ? d % 2 == 0 : d % 3 == 0",
        "ceil_div(d, VEC) <= sm_count", "(rows < 3) == (d < 4)", "(VEC == 1 ? rows : d) <= 7",
        "rows < 2 ? d < 3 : rows < 4 ? d < 9 : 1", "min(rows, d) == 3", "((d >= 3 && d < 9))", "1 < rows && rows != d",
        "VEC < 4", "d / VEC * VEC == d && !(rows > 2 && d > 4)"}) {
    const ConditionDistance distance = DistanceOf(text, constants);
    const Expression condition = *Expression::Parse(text);
    for (int64_t rows = 0; rows < 8; ++rows) {
      for (int64_t d = 0; d < 30; ++d) {
        std::map<std::string, int64_t> names = constants;
        names["rows"] = rows;
        names["d"] = d;
        const bool holds = *condition.Evaluate(names) != 0;
        EXPECT_EQ(distance.ToHold({rows, d}) == 0, holds) << text << " at " << rows << ", " << d;
        EXPECT_EQ(distance.ToFail({rows, d}) == 0, !holds) << text << " at " << rows << ", " << d;
      }
    }
  }
}

TEST(ConditionDistance, GrowsWithWhatIsMissing) {
  const ConditionDistance distance = DistanceOf("rows * d >= 1000000 && d % 8 == 0");
  EXPECT_GT(distance.ToHold({1, 8}), distance.ToHold({1000, 8}));
  EXPECT_GT(distance.ToHold({1000, 8}), distance.ToHold({100000, 8}));
  EXPECT_GT(distance.ToHold({1000, 1003}), distance.ToHold({1000, 1001}));
  EXPECT_EQ(distance.ToHold({1000, 1000}), 0);
}

TEST(ConditionDistance, KnowsWhatConstantsRuleOut) {
  EXPECT_TRUE(DistanceOf("EACH < 8 && d > 3", {{"EACH", 8}}).NeverHolds());
  EXPECT_FALSE(DistanceOf("EACH < 8 || d > 3", {{"EACH", 8}}).NeverHolds());
  EXPECT_TRUE(DistanceOf("(EACH < 8 || EACH == 9) && d > 3", {{"EACH", 8}}).NeverHolds());
  EXPECT_FALSE(DistanceOf("EACH < 8 && d > 3", {{"EACH", 4}}).NeverHolds());
}

TEST(ConditionDistance, FindsTheSizesThatAConditionFixes) {
  const ConditionDistance both = DistanceOf("(d == 4 * EACH && rows == 16) && rows > 3", {{"EACH", 8}});
  EXPECT_EQ(both.pinned(), (std::map<size_t, int64_t>{{0, 16}, {1, 32}}));
  EXPECT_TRUE(DistanceOf("d == 8 || rows == 3").pinned().empty());
  EXPECT_TRUE(DistanceOf("d % 8 == 0 && rows != 3").pinned().empty());
}

// align() and stride() need a resolved plan, and a division by zero has no value: neither gives a direction.
TEST(ConditionDistance, LeavesWhatItCannotKnowToThePlan) {
  const ConditionDistance unknown = DistanceOf("align(x) >= 2 && d > 4");
  EXPECT_EQ(unknown.ToHold({1, 5}), 0);
  EXPECT_EQ(unknown.ToFail({1, 5}), 0);
  EXPECT_GT(unknown.ToHold({1, 4}), 0);
  const ConditionDistance undefined = DistanceOf("d / rows == 3");
  EXPECT_EQ(undefined.ToHold({0, 5}), 1);
  EXPECT_EQ(undefined.ToFail({0, 5}), 1);
}

TEST(ConditionDistance, CountsItsWork) {
  const ConditionDistance distance = DistanceOf("rows > 1 && d > VEC && VEC == 4", {{"VEC", 4}});
  EXPECT_EQ(distance.comparisons(), 0);
  distance.ToHold({1, 1});
  EXPECT_EQ(distance.comparisons(), 2);  // VEC == 4 is known
}

// Sixty conditionals, each within the condition of the next, once made 2^60 parts.
TEST(ConditionDistance, ConditionalsWithinConditionsAreReadInTime) {
  std::string text = "a";
  for (int i = 0; i < 60; ++i) text = "(" + text + " ? b : a)";
  const Result<Expression> expression = Expression::Parse(text);
  ASSERT_TRUE(expression.ok());
  const ConditionDistance distance(*expression, {"a", "b"}, {});
  EXPECT_GE(distance.ToHold({1, 2}), 0);
}

}  // namespace
}  // namespace hone
