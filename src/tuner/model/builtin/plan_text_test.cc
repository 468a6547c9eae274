// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/builtin/plan_text.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr std::string_view kSource = R"(// a comment
/*hone
options = ["-lineinfo"]  # top level
[tune]
VEC = [4, 8]  # = [1]
[[launch]]   # first
kernel = "f<VEC>"
args = ["x",  # ] not the end
        "n:i32"]
when = "d % 8 == 0 # no comment"
with = { VEC = 8 }
[[memset]]
target = 'out'
[[launch]]
kernel = "g"
*/
__global__ void f() {}
)";

std::string Value(const PlanKey* key) {
  return key == nullptr ? "" : std::string(kSource.substr(key->value_begin, key->value_end - key->value_begin));
}

TEST(PlanText, FindsSectionsAndValues) {
  const PlanOutline plan = FindPlan(kSource).value();
  ASSERT_EQ(plan.sections.size(), 5u);
  EXPECT_EQ(Value(plan.sections[0].Find("options")), "[\"-lineinfo\"]");
  EXPECT_EQ(Value(plan.Find("tune")->Find("VEC")), "[4, 8]");
  const PlanSection* launch = plan.Entry(0);
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(Value(launch->Find("args")), "[\"x\",  # ] not the end\n        \"n:i32\"]");
  EXPECT_EQ(Value(launch->Find("when")), "\"d % 8 == 0 # no comment\"");
  EXPECT_EQ(Value(launch->Find("with")), "{ VEC = 8 }");
  EXPECT_EQ(plan.Entry(1)->name, "memset");
  EXPECT_EQ(Value(plan.Entry(2)->Find("kernel")), "\"g\"");
  EXPECT_EQ(plan.Entry(3), nullptr);
  EXPECT_EQ(kSource.substr(plan.end, 2), "*/");
  EXPECT_TRUE(kSource.substr(launch->begin).starts_with("[[launch]]"));
}

TEST(PlanText, SaysWhereItDoesNotUnderstand) {
  EXPECT_FALSE(FindPlan("__global__ void f() {}").ok());
  EXPECT_NE(FindPlan("/*hone\na = [1\n*/").status().message().find("line"), std::string::npos);
  EXPECT_FALSE(FindPlan("/*hone\na = \"x\n*/").ok());
  EXPECT_FALSE(FindPlan("/*hone\njust words\n*/").ok());
}

TEST(PlanText, ReplacesWholeWordsOnly) {
  EXPECT_EQ(ReplaceWord("ceil_div(n, 256) + N256 + 2561 + 256", "256", "BLOCK"),
            "ceil_div(n, BLOCK) + N256 + 2561 + BLOCK");
  EXPECT_EQ(ReplaceWord("VEC*VECTOR", "VEC", "8"), "8*VECTOR");
}

TEST(PlanText, QuotesForToml) {
  EXPECT_EQ(Quote("a \"b\" \\"), "\"a \\\"b\\\" \\\\\"");
  // A condition that its author wrote over several lines.
  EXPECT_EQ(Quote("d > 4 &&\nd < 9"), "\"d > 4 && d < 9\"");
}

}  // namespace
}  // namespace hone
