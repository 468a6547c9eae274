// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/shapes/aimed_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace hone {
namespace {

// This task has rows of d numbers, timed far beyond the hidden ranges, as shipped tasks are. `groups` is a multiple of
// four.
constexpr std::string_view kTask = R"(
name = "rows"
summary = "rows of d, in groups"
class = "elementwise"
slice = "rows"
[dims]
rows = "rows"
d = "width"
groups = "groups of four"
kind = "one of three widths"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "d", "groups / 4"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["rows", "d", "groups / 4"]
[tolerance.out]
c_max = 1e-6
c_rms = 3e-7
[work]
flops = "rows * d * groups"
[[case]]
role = "time"
dims = { rows = 1024, d = 4096, groups = 4, kind = 64 }
[[case]]
role = "time"
dims = { rows = 32, d = 70000, groups = 8, kind = 256 }
[[case]]
role = "check"
dims = { rows = 3, d = 5, groups = 4, kind = 64 }
[[case]]
role = "check"
dims = { rows = 0, d = 5, groups = 4, kind = 64 }
[[hidden]]
count = 2
rows = { low = 1, high = 200 }
d = { low = 1, high = 2500 }
groups = { low = 4, high = 16, multiple = 4 }
kind = 128
[[hand]]
dims = { rows = 1, d = 1, groups = 4, kind = 64 }
inputs.x = [1.0]
outputs.out = [1.0]
)";

constexpr ShapeLimits kLimits{.bytes = 64 << 20, .flops = 1e9};

Task TheTask(const std::string& without = "") {
  std::string toml(kTask);
  if (const size_t at = without.empty() ? std::string::npos : toml.find(without); at != std::string::npos) {
    toml.erase(at, toml.find("[[hand]]") - at);
  }
  Result<Task> task = ParseTask(toml, "task.toml");
  EXPECT_TRUE(task.ok()) << task.status().message();
  return *task;
}

// Returns a plan of alternatives with these conditions, in order; "" for none.
Candidate PlanOfAlternatives(const Task& task, const std::vector<std::string>& conditions,
                             const std::string& tune = "") {
  std::string text = "/*hone\n" + tune;
  for (const std::string& when : conditions) {
    text += "[[launch]]\nkernel = \"k\"\ngrid = [\"1\"]\nblock = [\"1\"]\nargs = [\"x\", \"out\"]\n";
    if (!when.empty()) text += "when = \"" + when + "\"\n";
  }
  Result<Candidate> candidate = ParseCandidate(text + "*/\n", "plan.cu", task);
  EXPECT_TRUE(candidate.ok()) << candidate.status().message();
  return *candidate;
}

DeviceFacts Facts() {
  DeviceFacts facts;
  facts.cc_major = 9;
  facts.sm_count = 132;
  facts.l2_bytes = 60 << 20;
  return facts;
}

// A Resolver resolves a plan and counts how often it was asked.
struct Resolver {
  const Task& task;
  const Candidate& candidate;
  int* times_asked = nullptr;
  std::optional<std::vector<size_t>> operator()(const Dims& dims) const {
    if (times_asked != nullptr) ++*times_asked;
    Result<ResolvedPlan> plan = ResolvePlan(candidate, task, dims, DefaultBinding(candidate.plan), Facts());
    return plan.ok() ? std::optional(plan->chosen) : std::nullopt;
  }
};

AimedShapes AimAt(const Task& task, const Candidate& candidate, uint64_t seed, const std::set<size_t>& taken = {},
                  int most = 16) {
  const FairShapes fair(task, kLimits);
  return AimAtAlternatives(task, candidate.plan, DefaultBinding(candidate.plan), Facts(), fair, taken,
                           Resolver{task, candidate}, most, seed);
}

bool Any(const Dims&) { return true; }

TEST(StretchedShapes, HaveManySlicesOrHardlyAny) {
  const Task task = TheTask();
  const FairShapes fair(task, {.bytes = 1 << 20, .flops = 4e6});
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Case> shapes = StretchedShapes(task, fair, 512, Any, seed);
    ASSERT_EQ(shapes.size(), 2u) << "seed " << seed;
    EXPECT_GE(shapes[0].dims.at("rows"), 512);
    EXPECT_LE(shapes[1].dims.at("rows"), 3);
    for (const Case& shape : shapes) {
      EXPECT_TRUE(fair.Allows(fair.Values(shape.dims)));
      EXPECT_FALSE(fair.InHiddenRange(fair.Values(shape.dims)));
    }
    const std::vector<Case> again = StretchedShapes(task, fair, 512, Any, seed);
    EXPECT_EQ(again[0].dims, shapes[0].dims);
  }
  EXPECT_TRUE(StretchedShapes(task, fair, 512, [](const Dims&) { return false; }, 1).empty());
  EXPECT_TRUE(StretchedShapes(TheTask("[[hidden]]"), FairShapes(TheTask("[[hidden]]"), kLimits), 512, Any, 1).empty());
}

TEST(FairShapes, LieBetweenWhatTheTaskNames) {
  const Task task = TheTask();
  const FairShapes fair(task, {.bytes = int64_t{1} << 40, .flops = 1e15});
  EXPECT_TRUE(fair.Allows({1, 1, 4, 64}));
  EXPECT_TRUE(fair.Allows({1025, 70001, 16, 256}));
  EXPECT_FALSE(fair.Allows({0, 5, 4, 64}));         // a size of 0 is checked only by the task's own cases
  EXPECT_FALSE(fair.Allows({1024 * 2, 5, 4, 64}));  // rows: far above every case
  EXPECT_FALSE(fair.Allows({5, 5, 6, 64}));         // groups: no multiple of four
  EXPECT_FALSE(fair.Allows({5, 5, 4, 100}));        // kind: no hidden range varies it, so only named sizes are allowed
  EXPECT_TRUE(fair.Allows({5, 5, 4, 128}));
}

TEST(FairShapes, KeepTheOrderThatAllCasesHave) {
  const Task task = TheTask();
  const FairShapes fair(task, kLimits);
  EXPECT_FALSE(fair.Allows({5, 5, 4, 1}));
  // In all named shapes groups <= kind, while rows and d come in both orders.
  EXPECT_TRUE(fair.Allows({900, 3, 16, 64}));
  EXPECT_TRUE(fair.Allows({3, 900, 16, 64}));
}

TEST(FairShapes, ATaskWithoutHiddenRangesServesItsCasesOnly) {
  const Task task = TheTask("[[hidden]]");
  const FairShapes fair(task, kLimits);
  EXPECT_FALSE(fair.any());
  EXPECT_FALSE(fair.Allows({1024, 4096, 4, 64}));
  const Candidate candidate = PlanOfAlternatives(task, {"d > 3000", ""});
  EXPECT_TRUE(
      ShapesBeyond(task, candidate.plan, {}, Facts(), {}, Resolver{task, candidate}, {kLimits, 2, 16, 2, 99, true}, 1)
          .cases.empty());
}

TEST(FairShapes, AreShrunkUntilTheyAreCheapAndStayOdd) {
  const Task task = TheTask();
  const FairShapes fair(task, kLimits);
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    const auto shrunk = fair.HalvedToLimits({1023, 70001, 16, 64}, rng);
    ASSERT_TRUE(shrunk.has_value());
    EXPECT_LE(*fair.Cost(*shrunk), 1);
    EXPECT_GT(*fair.Cost(*shrunk), 0.4);  // it is shrunk no further than needed
    EXPECT_EQ((*shrunk)[0] % 2, 1);
    EXPECT_EQ((*shrunk)[1] % 2, 1);
  }
}

TEST(OddNeighbors, LieBesideTimedShapesAndOutsideTheHiddenRanges) {
  const Task task = TheTask();
  const FairShapes fair(task, kLimits);
  std::set<Dims> all_shapes;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const std::vector<Case> neighbors = OddNeighbors(task, fair, 2, Any, seed);
    ASSERT_EQ(neighbors.size(), 2u) << "seed " << seed;
    EXPECT_NE(neighbors[0].dims, neighbors[1].dims);
    for (const Case& neighbor : neighbors) {
      const std::vector<int64_t> values = fair.Values(neighbor.dims);
      EXPECT_TRUE(fair.Allows(values));
      EXPECT_FALSE(fair.InHiddenRange(values));
      EXPECT_EQ(neighbor.role, CaseRole::kHidden);
      EXPECT_TRUE(
          std::none_of(task.cases.begin(), task.cases.end(), [&](const Case& c) { return c.dims == neighbor.dims; }));
      all_shapes.insert(neighbor.dims);
    }
    const std::vector<Case> again = OddNeighbors(task, fair, 2, Any, seed);
    EXPECT_EQ(again[0].dims, neighbors[0].dims);
    EXPECT_EQ(again[1].dims, neighbors[1].dims);
  }
  EXPECT_GE(all_shapes.size(), 60u);  // nearly all seeds give different shapes, so that none can be foreseen
  EXPECT_TRUE(std::any_of(all_shapes.begin(), all_shapes.end(), [](const Dims& dims) { return dims.at("d") == 4097; }));
  EXPECT_TRUE(std::any_of(all_shapes.begin(), all_shapes.end(),
                          [](const Dims& dims) { return dims.at("d") == 4096 && dims.at("rows") % 2 == 1; }));
}

// No shape of the hidden ranges meets these conditions. The plan's first alternative takes all other shapes, so the
// second is taken only where the condition holds.
TEST(AimAtAlternatives, FindsAShapeForWhatCanBeMet) {
  const Task task = TheTask();
  const FairShapes fair(task, kLimits);
  for (const std::string when :
       {"rows * d > 3000000", "d == 60001", "d % 512 == 0 && d > 30000", "d >= 65536 && d < 65600 && d % 4 == 0",
        "rows > 1000 && d == 17", "d % 4 != 0 && d / 4 >= sm_count * 31 && d / 4 <= sm_count * 32",
        "d == 4 * HELD * BLOCK", "rows * groups % LARGE == 0 && rows > 700", "kind == 256 && d > 3000",
        "rows > 200 ? d > 3000 : d > 60000", "ceil_div(d / 4, 100) > sm_count || d == 3001",
        "!(d <= 50000) && rows == 31", "rows * d > 2500000 && rows * d < 2510000",
        "rows >= 512 && rows % 8 == 5 && d % 7 == 3"}) {
    const Candidate candidate =
        PlanOfAlternatives(task, {"!(" + when + ")", ""}, "[tune]\nHELD = [8]\nBLOCK = [320]\nLARGE = [512]\n");
    std::set<Dims> found_shapes;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const AimedShapes aimed = AimAt(task, candidate, seed, {0});
      ASSERT_EQ(aimed.cases.size(), 1u) << when << ", seed " << seed;
      EXPECT_EQ(aimed.taken, std::set<size_t>{1});
      EXPECT_TRUE(aimed.unreachable.empty());
      const Dims& dims = aimed.cases[0].dims;
      EXPECT_TRUE(fair.Allows(fair.Values(dims))) << when;
      EXPECT_EQ(*(Resolver{task, candidate}(dims)), std::vector<size_t>{1}) << when;
      EXPECT_EQ(AimAt(task, candidate, seed, {0}).cases[0].dims, dims);
      found_shapes.insert(dims);
    }
    EXPECT_GE(found_shapes.size(), 2u) << when << ": everybody knows where it is looked at";
  }
}

TEST(AimAtAlternatives, ServesEachOfManyAndGoesAroundThoseBefore) {
  const Task task = TheTask();
  const Candidate candidate = PlanOfAlternatives(task, {"d % 4 == 0 && d <= 4096", "d % 4 == 0 && d <= 8192",
                                          "d % 4 == 0 && rows < 100", "d % 2 == 0", "d > 9000", "rows > 400", ""});
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const AimedShapes aimed = AimAt(task, candidate, seed);
    EXPECT_EQ(aimed.taken, (std::set<size_t>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(aimed.cases.size(), 7u);
  }
  EXPECT_EQ(AimAt(task, candidate, 1, {0, 2}).cases.size(), 5u);
  EXPECT_EQ(AimAt(task, candidate, 1, {}, 3).cases.size(), 3u);
}

TEST(AimAtAlternatives, SaysWhatNoShapeTakes) {
  const Task task = TheTask();
  const Candidate candidate =
      PlanOfAlternatives(task,
           {"VEC > 4 && d > 3000", "rows == 32 && d == 7000 && groups == 8 && kind == 256 && VEC == 4",
            "(rows == 32 && d == 7000 && groups == 8 && kind == 256) && d % 2 == 0", "rows > 300", "d > 100000000",
            "(rows == 1024 && d == 70000 && groups == 8 && kind == 256) && d == 1000 * VEC", ""},
           "[tune]\nVEC = [4]\n");
  const AimedShapes aimed = AimAt(task, candidate, 5);
  // Entry 4 is not unreachable: it has a shape, although one that the task does not ask for.
  EXPECT_EQ(aimed.unreachable, (std::set<size_t>{0, 2, 5}));
  EXPECT_EQ(aimed.taken, (std::set<size_t>{1, 3, 6}));
}

TEST(AimAtAlternatives, OnesOutOfReachCostLittleAndDoNotStarveTheNext) {
  const Task task = TheTask();
  std::vector<std::string> conditions;
  for (int i = 0; i < 5; ++i)
    conditions.push_back("rows * d % 1000003 == 999983 && rows % 2 == 0 && d % 2 == 0 && rows % 64 == 3");
  conditions.insert(conditions.end(), {"d > 5000", ""});
  const Candidate candidate = PlanOfAlternatives(task, conditions);
  const FairShapes fair(task, kLimits);
  int times_asked = 0;
  const AimedShapes aimed =
      AimAtAlternatives(task, candidate.plan, {}, Facts(), fair, {}, Resolver{task, candidate, &times_asked}, 16, 9);
  EXPECT_EQ(aimed.taken, (std::set<size_t>{5, 6}));
  EXPECT_LT(times_asked, 100);
}

// Only a resolved plan knows alignments. So a shape counts as taking an entry only if the resolved plan takes it.
TEST(AimAtAlternatives, LetsThePlanHaveTheLastWord) {
  const Task task = TheTask();
  const Candidate candidate = PlanOfAlternatives(task, {"align(x) < 16 && d > 3000", "align(x) < 16", ""});
  const AimedShapes aimed = AimAt(task, candidate, 3);
  EXPECT_EQ(aimed.taken, std::set<size_t>{2});
}

// A kernel that has room for 1000 elements, and whose condition promises more, is wrong from 1001 on. A random width
// between 1 and 70000 hardly ever shows that; the largest width that takes the alternative always does.
TEST(EdgesOfAlternatives, AreWhereTheyAreOnlyJustTaken) {
  const Task task = TheTask();
  const Candidate candidate =
      PlanOfAlternatives(task, {"d <= 1003 && d % 3 == 0", "d <= 3 * HELD", ""}, "[tune]\nHELD = [2001]\n");
  const FairShapes fair(task, kLimits);
  const Resolver resolver{task, candidate};
  std::map<size_t, std::set<int64_t>> widths;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    for (const Case& edge : EdgesOfAlternatives(task, candidate.plan, {}, Facts(), fair, {}, resolver, 3, seed)) {
      EXPECT_TRUE(fair.Allows(fair.Values(edge.dims)));
      widths[resolver(edge.dims)->front()].insert(edge.dims.at("d"));
    }
  }
  EXPECT_EQ(widths[0], (std::set<int64_t>{3, 1002}));
  EXPECT_TRUE(widths[1].contains(6003));
  EXPECT_TRUE(widths[2].contains(6004));
  EXPECT_TRUE(widths[2].contains(70064));  // 64 beyond the largest size that the task names
  EXPECT_TRUE(EdgesOfAlternatives(task, candidate.plan, {}, Facts(), fair, {0, 1, 2}, resolver, 3, 1).empty());
  const Candidate plain = PlanOfAlternatives(task, {""});
  EXPECT_TRUE(EdgesOfAlternatives(task, plain.plan, {}, Facts(), fair, {}, Resolver{task, plain}, 3, 1).empty());
}

// Shapes that the plan leaves to the task's seed are not tried, because the candidate does not run on them.
TEST(ShapesBeyond, AreOnesThatThePlanServes) {
  const Task task = TheTask();
  const Candidate candidate = PlanOfAlternatives(task, {"d == 4097", "rows > 1000"});
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const AimedShapes shapes = ShapesBeyond(task, candidate.plan, {}, Facts(), {}, Resolver{task, candidate},
                                            {kLimits, 3, 16, 3, 99, true}, seed);
    EXPECT_GE(shapes.cases.size(), 3u);
    for (const Case& shape : shapes.cases) EXPECT_TRUE(shape.dims.at("d") == 4097 || shape.dims.at("rows") > 1000);
  }
}

TEST(ShapesBeyond, HaveAsManyEdgesAsLaunchesAreLeftFor) {
  const Task task = TheTask();
  const Candidate candidate =
      PlanOfAlternatives(task, {"d <= 40", "d <= 400", "d <= 800", "d <= 9000", "d <= 12000", ""});
  const auto shapes = [&](int edges, int launches) {
    const BeyondOptions options{kLimits, 2, 16, edges, launches, true};
    return ShapesBeyond(task, candidate.plan, {}, Facts(), {0, 1, 2, 3, 5}, Resolver{task, candidate}, options, 4)
        .cases.size();
  };
  // There are two neighbors, and a shape for the unchecked alternative, which is launched twice.
  EXPECT_EQ(shapes(0, 99), 3u);
  EXPECT_EQ(shapes(5, 99), 8u);
  EXPECT_EQ(shapes(5, 7), 6u);
  EXPECT_EQ(shapes(5, 1), 4u);
}

TEST(ShapesBeyond, FirstServesAlternativesThatNoTimedShapeTakes) {
  const Task task = TheTask();
  const Candidate candidate =
      PlanOfAlternatives(task, {"d == 4096", "d == 70000", "d == 9000", "d == 9001", "d > 3000", ""});
  const auto taken = [&](int most, bool timed) {
    return ShapesBeyond(task, candidate.plan, {}, Facts(), {4, 5}, Resolver{task, candidate},
                        {kLimits, 0, most, 0, 99, timed}, 77)
        .taken;
  };
  EXPECT_EQ(taken(2, true), (std::set<size_t>{2, 3}));
  EXPECT_EQ(taken(2, false), (std::set<size_t>{0, 1}));
  EXPECT_EQ(taken(16, true), (std::set<size_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace hone
