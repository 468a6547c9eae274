// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/sweep/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <vector>

#include "tuner/sweep/dispatch.h"
#include "tuner/run/scripted_evaluator.h"

namespace hone {
namespace {

using testing::HasSubstr;

constexpr char kTunable[] = R"cu(/*hone
constraints = ["VEC * BLOCK <= 4096"]
[tune]
VEC = [4, 8]       # elements a load
BLOCK = [128, 512, 1024]
[[launch]]
kernel = "copy<VEC>"   # the vector path
grid   = ["ceil_div(rows * d, VEC * BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows * d:i64"]
when   = "d % VEC == 0"
[[launch]]
kernel = "copy<1>"
grid   = ["ceil_div(rows * d, BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows * d:i64"]
*/
template <int V> __global__ void copy(const float* x, float* out, long long n) {}
)cu";

Candidate Tunable() { return ParseCandidate(kTunable, "tunable.cu", ScriptedTask()).value(); }

TuneOptions AgainstItself() {
  TuneOptions options;
  options.incumbent_source = kTunable;
  return options;
}

TEST(SweepOrder, StartsWithTheFirstChoicesAndTheirNeighbours) {
  const LaunchPlan plan = Tunable().plan;
  const std::vector<Binding> bindings = SweepOrder(plan, 100);
  ASSERT_EQ(bindings.size(), 5u);  // 8 * 1024 breaks the constraint
  EXPECT_EQ(bindings[0], (Binding{{"VEC", 4}, {"BLOCK", 128}}));
  std::set<std::string> neighbours;
  for (size_t i = 1; i < 4; ++i) neighbours.insert(BindingKey(bindings[i]));
  EXPECT_EQ(neighbours, (std::set<std::string>{"BLOCK=512,VEC=4", "BLOCK=1024,VEC=4", "BLOCK=128,VEC=8"}));
  EXPECT_EQ(SweepOrder(plan, 2).size(), 2u);
}

TEST(Tune, WritesOneDispatchEntryForTheShapeThatDiffersAndItStillParses) {
  const Task task = ScriptedTask();
  // Few rows favor small blocks, many rows large ones.
  ScriptedEvaluator evaluator([](const std::string&, const Binding& b, const Dims& dims) {
    const double block = static_cast<double>(b.at("BLOCK"));
    const double base = b.at("VEC") == 8 ? 10 : 12;
    return dims.at("rows") == 16 ? base * (1 + block / 1000) : 40 * base * (3 - block / 1000);
  });
  const TuneOptions options = AgainstItself();
  const TuneResult result = TuneCandidate(evaluator, task, Tunable(), options).value();
  EXPECT_EQ(result.points.size(), 5u);
  EXPECT_EQ(result.left_out, 0);
  ASSERT_TRUE(result.best);
  ASSERT_FALSE(result.source.empty()) << result.summary;
  const Candidate written_candidate = ParseCandidate(result.source, "w.cu", task).value();
  // The device code is untouched, and so are the comments.
  EXPECT_THAT(result.source, HasSubstr("# elements a load"));
  EXPECT_EQ(result.source.substr(result.source.find("*/")),
            std::string(kTunable).substr(std::string(kTunable).find("*/")));
  EXPECT_EQ(written_candidate.plan.entries.size(), 4u);

  // Judged again with its default binding, every shape gets its own winner.
  EvaluationRequest request;
  request.source = result.source;
  request.incumbent_source = kTunable;
  const Evaluation again = evaluator.Evaluate(task, request, {}).value();
  ASSERT_EQ(again.cases.size(), 2u);
  EXPECT_DOUBLE_EQ(again.cases[0].time_us->median, 10 * 1.128);             // VEC 8, BLOCK 128
  EXPECT_DOUBLE_EQ(again.cases[1].time_us->median, 40 * 12 * (3 - 1.024));  // VEC 4, BLOCK 1024
}

TEST(Tune, LeavesACandidateAloneWhoseFirstChoicesWin) {
  ScriptedEvaluator evaluator([](const std::string&, const Binding& b, const Dims&) {
    return static_cast<double>(b.at("BLOCK") + b.at("VEC"));
  });
  const TuneResult result = TuneCandidate(evaluator, ScriptedTask(), Tunable(), AgainstItself()).value();
  EXPECT_TRUE(result.source.empty());
  EXPECT_TRUE(result.needs_no_change);
  EXPECT_THAT(result.summary, HasSubstr("first choices"));
}

TEST(Tune, KnownPointsAreNotJudgedAgain) {
  const auto time = [](const std::string&, const Binding& b, const Dims&) {
    return static_cast<double>(b.at("BLOCK"));
  };
  ScriptedEvaluator evaluator(time);
  const Task task = ScriptedTask();
  TuneOptions options = AgainstItself();
  std::map<std::string, Evaluation> known_points;
  options.on_point = [&](const Binding& binding, const Evaluation& evaluation) {
    known_points[BindingKey(binding)] = evaluation;
    return known_points.size() == 3 ? Status::Io("disk full") : Status::Ok();
  };
  options.parallel = 1;
  EXPECT_EQ(TuneCandidate(evaluator, task, Tunable(), options).status().code(), StatusCode::kIo);
  ASSERT_EQ(known_points.size(), 3u);
  ScriptedEvaluator second(time);
  TuneOptions remaining_options = AgainstItself();
  remaining_options.known = known_points;
  EXPECT_EQ(TuneCandidate(second, task, Tunable(), remaining_options).value().points.size(), 5u);
  EXPECT_EQ(second.calls, 2);
}

TEST(Tune, AllBindingsGetTheSameInputsAndTheirOwnWithoutASeed) {
  ScriptedEvaluator evaluator([](const std::string&, const Binding&, const Dims&) { return 1.0; });
  std::mutex mutex;
  std::vector<uint64_t> seeds;
  evaluator.on_evaluate = [&](const Task&, const EvaluationRequest& request) {
    std::lock_guard lock(mutex);
    seeds.push_back(request.seed);
  };
  TuneOptions options = AgainstItself();
  options.seed = 77;
  ASSERT_TRUE(TuneCandidate(evaluator, ScriptedTask(), Tunable(), options).ok());
  EXPECT_THAT(seeds, testing::AllOf(testing::SizeIs(5), testing::Each(77)));
  seeds.clear();
  ASSERT_TRUE(TuneCandidate(evaluator, ScriptedTask(), Tunable(), AgainstItself()).ok());
  EXPECT_THAT(seeds, testing::Each(0));  // the evaluator draws a seed for each
}

TEST(Tune, ADeviceThatGoesAwayIsAStatus) {
  ScriptedEvaluator evaluator([](const std::string&, const Binding&, const Dims&) { return 1.0; });
  evaluator.fail_after = 2;
  EXPECT_EQ(TuneCandidate(evaluator, ScriptedTask(), Tunable(), AgainstItself()).status().code(),
            StatusCode::kUnavailable);
}

TEST(Tune, ASpoolIsGivenAllPointsBeforeTheSweepWaits) {
  ScriptedEvaluator evaluator([](const std::string&, const Binding&, const Dims&) { return 1.0; });
  evaluator.pending_rounds = 1;
  EXPECT_EQ(TuneCandidate(evaluator, ScriptedTask(), Tunable(), AgainstItself()).status().code(), StatusCode::kPending);
  EXPECT_EQ(evaluator.calls, 5);
}

TEST(Tune, AWinnerMustBeSurelyFasterInItsShape) {
  // 0.1 % faster in one shape is within the margin: no rule for it.
  ScriptedEvaluator evaluator([](const std::string&, const Binding& b, const Dims& dims) {
    if (b.at("VEC") == 8) return 50.0;
    if (b.at("BLOCK") == 512) return 10.0;
    return dims.at("rows") == 16 ? 9.99 : 20.0;
  });
  const TuneResult result = TuneCandidate(evaluator, ScriptedTask(), Tunable(), AgainstItself()).value();
  EXPECT_THAT(result.summary, testing::Not(HasSubstr("rule")));
  EXPECT_THAT(result.source, HasSubstr("BLOCK = [512, 128, 1024]"));
}

ShapeChoice Shape(int64_t rows, int64_t d, int64_t block) { return {{{"rows", rows}, {"d", d}}, {{"BLOCK", block}}}; }

TEST(DispatchRules, OneDimensionThatTellsThemApartIsSplitInTheMiddle) {
  const auto rules =
      MakeDispatchRules({Shape(16, 64, 128), Shape(64, 4096, 512), Shape(4096, 64, 512)}, {{"BLOCK", 512}});
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].when, "rows <= 32");
}

TEST(DispatchRules, ShapesThatNothingTellsApartAreNamed) {
  const auto rules =
      MakeDispatchRules({Shape(1, 4, 128), Shape(2, 3, 256), Shape(3, 2, 128), Shape(4, 1, 256)}, {{"BLOCK", 128}});
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].when, "d == 3 && rows == 2");
}

TEST(DispatchRules, EqualWinnersNeedNone) {
  EXPECT_TRUE(MakeDispatchRules({Shape(1, 1, 128)}, {{"BLOCK", 128}}).empty());
}

TEST(WriteDispatch, KeepsWhatTheAuthorBoundAndJoinsConditions) {
  std::string source = kTunable;
  source.replace(source.find("when   = "), 0, "with = { VEC = 8 }\n");
  const Task task = ScriptedTask();
  const Candidate candidate = ParseCandidate(source, "c.cu", task).value();
  const std::string written_source =
      WriteDispatch(candidate, task, {{"VEC", 4}, {"BLOCK", 128}}, {{"rows <= 32", {{"VEC", 4}, {"BLOCK", 512}}}})
          .value();
  const Candidate parsed = ParseCandidate(written_source, "c.cu", task).value();
  ASSERT_EQ(parsed.plan.entries.size(), 4u);
  EXPECT_EQ(parsed.plan.entries[0].with, (Binding{{"BLOCK", 512}, {"VEC", 8}}));
  EXPECT_EQ(parsed.plan.entries[0].when->text(), "(rows <= 32) && (d % VEC == 0)");
  EXPECT_EQ(parsed.plan.entries[1].when->text(), "rows <= 32");
  EXPECT_FALSE(parsed.plan.entries[3].when);
}

TEST(WriteDispatch, ARuleForOneShapeHoldsOnlyTheEntriesThatItCanTake) {
  // The entries are a kernel with vector loads, a kernel in clusters if the device allows them, and a kernel for every shape.
  std::string source = kTunable;
  const size_t general = source.rfind("[[launch]]");
  std::string clustered = source.substr(general, source.find("*/") - general);
  clustered.insert(clustered.find('\n') + 1, "when = \"d > 7 && rows <= sm_count\"\n");
  source.insert(general, clustered);
  const Task task = ScriptedTask();
  const Candidate candidate = ParseCandidate(source, "c.cu", task).value();
  ASSERT_EQ(candidate.plan.entries.size(), 3u);
  const auto written_binding = [&](int64_t d) {
    const DispatchRule rule{"d == " + std::to_string(d) + " && rows == 16", {{"VEC", 4}, {"BLOCK", 512}}, Dims{{"rows", 16}, {"d", d}}};
    const std::string text = WriteDispatch(candidate, task, {{"VEC", 4}, {"BLOCK", 128}}, {rule}).value();
    return ParseCandidate(text, "c.cu", task).value().plan.entries.size() - 3;
  };
  EXPECT_EQ(written_binding(64), 1u);  // the vector kernel takes it, so no later entry is needed
  EXPECT_EQ(written_binding(5), 1u);   // neither of the two before the last
  EXPECT_EQ(written_binding(9), 2u);   // the device decides between two
}

TEST(WriteDispatch, RefusesRulesWhereAWorkspaceDependsOnATunable) {
  std::string source = kTunable;
  source.replace(source.find("*/"), 0, "[[workspace]]\nname = \"w\"\nbytes = \"BLOCK * 4\"\n");
  const Task task = ScriptedTask();
  const Candidate candidate = ParseCandidate(source, "c.cu", task).value();
  EXPECT_FALSE(
      WriteDispatch(candidate, task, {{"VEC", 4}, {"BLOCK", 128}}, {{"rows <= 32", {{"VEC", 4}, {"BLOCK", 512}}}})
          .ok());
  EXPECT_TRUE(WriteDispatch(candidate, task, {{"VEC", 4}, {"BLOCK", 512}}, {}).ok());
}

}  // namespace
}  // namespace hone
