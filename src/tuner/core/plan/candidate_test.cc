// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests bindings: their keys, their enumeration, their substitution in kernel names, and the modules that they need.
#include "hone/tuner/candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/core/plan/bindings.h"
#include "tuner/core/plan/plan_test_support.h"

namespace hone {
namespace {

using namespace testing_support;  // NOLINT: a test's own vocabulary
using testing::ElementsAre;

Candidate Tunable(const std::string& above) {
  Result<Candidate> candidate = ParseCandidate(Source(above + R"(
[[launch]]
kernel = "k<VEC>"
grid = 1
block = 32
args = ["x", "out"]
when = "d % 8 == 0"
with = { VEC = 8 }
[[launch]]
kernel = "k<VEC>"
grid = 1
block = 32
args = ["x", "out"]
[[launch]]
step = 1
kernel = "tail"
grid = 1
block = 32
args = ["out"]
)"),
                                               "candidate.cu", PlanTask());
  EXPECT_TRUE(candidate.ok()) << candidate.status().message();
  return std::move(candidate).value();
}

TEST(BindingKey, IsSortedAndEmptyForNone) {
  EXPECT_EQ(BindingKey({{"VEC", 8}, {"BLOCK", 256}, {"A", -1}}), "A=-1,BLOCK=256,VEC=8");
  EXPECT_EQ(BindingKey({}), "");
}

TEST(AllBindings, EnumeratesInFileOrderAndDropsWhatConstraintsForbid) {
  const Candidate candidate =
      Tunable("constraints = [\"VEC * B <= 16\", \"16 / (VEC - 2) > 0\"]\n[tune]\nVEC = [4, 2, 8]\nB = [2, 4]\n");
  EXPECT_EQ(BindingKey(DefaultBinding(candidate.plan)), "B=2,VEC=4");
  std::vector<std::string> keys;
  for (const Binding& binding : AllBindings(candidate.plan)) keys.push_back(BindingKey(binding));
  // VEC = 2 divides by zero in the second constraint; VEC = 8, B = 4 breaks the first.
  EXPECT_THAT(keys, ElementsAre("B=2,VEC=4", "B=4,VEC=4", "B=2,VEC=8"));
  EXPECT_EQ(AllBindings(LaunchPlan{}).size(), 1u);  // nothing to choose: one empty binding
}

TEST(SubstituteTunables, ReplacesWholeIdentifiersOnly) {
  EXPECT_EQ(SubstituteTunables("k<VEC, (VEC > 2), VECTOR, MY_VEC, ns::VEC>", {{"VEC", 8}}),
            "k<8, (8 > 2), VECTOR, MY_VEC, ns::8>");
  EXPECT_EQ(SubstituteTunables("k2<N>", {{"k", 1}, {"N", -3}}), "k2<-3>");
}

TEST(CompileUnits, OnePerDistinctBindingWithTheKernelsItNeeds) {
  const Candidate candidate = Tunable("[tune]\nVEC = [4, 8]\n");
  const std::vector<CompileUnit> units = CompileUnits(candidate, {});
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(BindingKey(units[0].binding), "VEC=8");
  EXPECT_THAT(units[0].kernels, ElementsAre("k<8>"));
  EXPECT_EQ(BindingKey(units[1].binding), "VEC=4");
  EXPECT_THAT(units[1].kernels, ElementsAre("k<4>", "tail"));
  // With VEC = 8 everywhere, one module is enough.
  const std::vector<CompileUnit> one = CompileUnits(candidate, {{"VEC", 8}});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_THAT(one[0].kernels, ElementsAre("k<8>", "tail"));
}

TEST(CompileUnits, AgreeWithTheKeysOfResolvedSteps) {
  const Candidate candidate = Tunable("[tune]\nVEC = [4, 8]\n");
  for (const int64_t d : {8, 9}) {
    Result<ResolvedPlan> plan = ResolvePlan(candidate, PlanTask(), {{"tokens", 1}, {"d", d}, {"ld", d}}, {}, H200());
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    for (const ResolvedStep& step : plan->steps) {
      bool found = false;
      for (const CompileUnit& unit : CompileUnits(candidate, {})) {
        found = found || (BindingKey(unit.binding) == step.binding_key &&
                          std::find(unit.kernels.begin(), unit.kernels.end(), step.kernel) != unit.kernels.end());
      }
      EXPECT_TRUE(found) << step.kernel << " under " << step.binding_key;
    }
  }
}

}  // namespace
}  // namespace hone
