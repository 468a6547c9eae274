// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests evaluations: the JSON's documented fields, exact round trips, and texts that are not evaluations.
#include "hone/tuner/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tuner/core/evaluation/finding_text.h"
#include "tuner/core/plan/fallback_text.h"

namespace hone {
namespace {

using testing::HasSubstr;

Evaluation FullEvaluation() {
  Evaluation e;
  e.verdict = Verdict::kOk;
  e.detail = "fine \"quoted\"\nsecond line";
  e.log = "log";
  e.task = "silu_and_mul";
  e.candidate = "a.cu";
  e.source_hash = std::string(64, 'a');
  e.device = "cuda:0 NVIDIA H200";
  e.modelled = true;
  e.guarantee = "weaker: host mode";
  e.baseline = "seed.cu";
  e.binding = {{"VEC", 8}, {"BLOCK", 256}};
  e.labels = {"emulated_fp32", "nondeterministic"};
  CaseResult c;
  c.dims = {{"tokens", 16}, {"d", 4096}};
  c.role = CaseRole::kTime;
  c.time_us = Interval{10.5, 10.25, 10.75};
  c.baseline_us = 21.0;
  c.speedup = Interval{2.0, 1.9, 2.1};
  c.warm_time_us = Interval{1, 0.5, 1.5};
  c.warm_baseline_us = 2.5;
  c.warm_speedup = Interval{2.5, 2.25, 2.75};
  c.floor_us = 9.0;
  c.floor_fraction = 0.857;
  c.refuse_below_us = 5.5;
  c.timing = {"stable", "faster", 40, 2, 16, 3};
  c.max_scaled_error = 1e-3;
  c.rms_error = std::numeric_limits<double>::infinity();
  c.sampled_block_fraction = 0.125;
  c.fallback = true;
  e.cases = {c, CaseResult{}};
  e.cases[1].role = CaseRole::kHidden;
  e.geomean_speedup = 2.0;
  e.resources = {{"k<8>", 40, 8, 1024, 2048, 0.75}, {"unknown", -1, 0, 0, 0, 0}};
  e.stages = {{"compile", 0.21, false}, {"time", 0.3, true}};
  e.findings = {{"shared_race", "two writes", "candidate.cu:41", {{"tokens", 3}}, true, 4},
                {"untested_alternative", "of no launch", ""}};
  e.mismatch = Mismatch{"out", {{"tokens", 3}}, "cancelling", {1, 2}, 1.5, NAN, 7, 12, 0xffffffffffffffffULL};
  e.wall_seconds = 0.9;
  e.device_seconds = 0.3;
  e.seed = 0x8000000000000001ULL;
  e.metrics = {{"pch_misses", 0}, {"accesses", 1e9}};
  return e;
}

TEST(Verdict, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(Verdict::kDeviceLost); ++i) {
    EXPECT_EQ(VerdictFromName(VerdictName(static_cast<Verdict>(i))), static_cast<Verdict>(i));
  }
  EXPECT_EQ(VerdictName(Verdict::kDeviceLost), "device_lost");
  EXPECT_EQ(VerdictFromName("fine"), std::nullopt);
}

TEST(EvaluationJson, RoundTripsEveryField) {
  const std::string text = EvaluationToJson(FullEvaluation());
  Result<Evaluation> back = EvaluationFromJson(text);
  ASSERT_TRUE(back.ok()) << back.status().message();
  // The text has every field, so it is compared. Fields whose loss the text could hide are compared one by one.
  EXPECT_EQ(EvaluationToJson(*back), text);
  EXPECT_EQ(back->seed, FullEvaluation().seed);
  EXPECT_EQ(back->binding, FullEvaluation().binding);
  EXPECT_EQ(back->cases[0].speedup->high, 2.1);
  EXPECT_EQ(back->cases[0].warm_speedup->low, 2.25);
  EXPECT_EQ(back->cases[0].timing.looks, 3);
  EXPECT_TRUE(std::isinf(back->cases[0].rms_error));
  EXPECT_EQ(back->cases[1].role, CaseRole::kHidden);
  EXPECT_FALSE(back->cases[1].time_us.has_value());
  EXPECT_EQ(back->resources[1].registers, -1);
  EXPECT_TRUE(std::isnan(back->mismatch->actual));
  EXPECT_EQ(back->mismatch->seed, 0xffffffffffffffffULL);
  EXPECT_TRUE(back->stages[1].holds_device);
  EXPECT_EQ(back->findings[0].location, "candidate.cu:41");
  EXPECT_EQ(back->findings[0].dims, (Dims{{"tokens", 3}}));
  EXPECT_TRUE(back->findings[0].timed);
  EXPECT_EQ(back->findings[0].shapes, 4);
  EXPECT_TRUE(back->findings[1].dims.empty());
  EXPECT_EQ(back->metrics.at("accesses"), 1e9);
  EXPECT_EQ(back->detail, FullEvaluation().detail);
}

TEST(EvaluationJson, HasThePromisedFields) {
  const nlohmann::json j = nlohmann::json::parse(EvaluationToJson(FullEvaluation()));
  for (const char* key :
       {"verdict", "detail", "device", "modelled", "cases", "geomean_speedup", "resources", "stages", "wall_seconds"}) {
    EXPECT_TRUE(j.contains(key)) << key;
  }
  const nlohmann::json& c = j["cases"][0];
  EXPECT_EQ(c["dims"]["tokens"], 16);
  EXPECT_EQ(c["role"], "time");
  EXPECT_EQ(c["time_us"]["median"], 10.5);
  EXPECT_EQ(c["time_us"]["ci95"], (nlohmann::json{10.25, 10.75}));
  EXPECT_EQ(c["speedup"]["ci95"], (nlohmann::json{1.9, 2.1}));
  EXPECT_EQ(c["floor_fraction"], 0.857);
  EXPECT_EQ(j["stages"][0]["name"], "compile");
  EXPECT_EQ(j["stages"][0]["seconds"], 0.21);
}

// Evaluations stored before findings had shapes are written again unchanged.
TEST(EvaluationJson, AFindingOfNoKnownShapeHasNoFieldsForOne) {
  const nlohmann::json j = nlohmann::json::parse(EvaluationToJson(FullEvaluation()))["findings"];
  EXPECT_EQ(j[0]["dims"], (nlohmann::json{{"tokens", 3}}));
  EXPECT_EQ(j[1], (nlohmann::json{{"kind", "untested_alternative"}, {"message", "of no launch"}, {"location", ""}}));
}

TEST(FindingText, NamesTheShapeAndHowManyOthersShowIt) {
  Finding finding{"uncoalesced", "9 sectors a warp", "candidate.cu:41", {{"d", 8}, {"tokens", 3}}, false, 1};
  EXPECT_EQ(FindingShapes(finding), " (at the check shape d=8 tokens=3)");
  finding.shapes = 2;
  EXPECT_EQ(FindingShapes(finding), " (at the check shape d=8 tokens=3, and at 1 other)");
  finding.shapes = 5;
  finding.timed = true;
  EXPECT_EQ(FindingShapes(finding), " (at the timed shape d=8 tokens=3, and at 4 others)");
  finding.dims.clear();
  EXPECT_EQ(FindingShapes(finding), "");
}

TEST(EvaluationJson, TimesExistOnlyWithTheVerdictOk) {
  Evaluation e = FullEvaluation();
  e.verdict = Verdict::kWrongOutput;
  const nlohmann::json j = nlohmann::json::parse(EvaluationToJson(e));
  EXPECT_FALSE(j.contains("geomean_speedup"));
  for (const char* key : {"time_us", "speedup", "warm_time_us", "floor_us", "timing"}) {
    EXPECT_FALSE(j["cases"][0].contains(key)) << key;
  }
  EXPECT_EQ(j["cases"][0]["max_scaled_error"], 1e-3);
}

TEST(EvaluationJson, OneLineAndAnyBytes) {
  Evaluation e;
  e.log = "error: \xff\xfe caf\xe9";
  const std::string text = EvaluationToJson(e, -1);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(EvaluationFromJson(text).ok());
}

TEST(EvaluationJson, ReadsNewerWritersAndRefusesNonsense) {
  EXPECT_TRUE(EvaluationFromJson(R"({"verdict": "crashed", "invented_later": {"a": 1}})").ok());
  EXPECT_EQ(EvaluationFromJson(R"({"verdict": "crashed"})")->verdict, Verdict::kCrashed);
  const auto error = [](const char* text) { return EvaluationFromJson(text).status().message(); };
  EXPECT_THAT(error("{"), HasSubstr("not JSON"));
  EXPECT_THAT(error("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(error("{}"), HasSubstr("evaluation.verdict: is missing"));
  EXPECT_THAT(error(R"({"verdict": "good"})"), HasSubstr("'good' is not one of ok, parse_error"));
  EXPECT_THAT(error(R"({"verdict": "ok", "cases": [{"role": "time", "time_us": {"median": 1, "ci95": [1]}}]})"),
              HasSubstr("evaluation.cases[0].time_us.ci95: expected two numbers"));
  EXPECT_THAT(error(R"({"verdict": "ok", "wall_seconds": "long"})"), HasSubstr("evaluation.wall_seconds"));
}

TEST(GeomeanSpeedup, IsTheGeometricMeanOfThoseThatHaveOne) {
  EXPECT_FALSE(GeomeanSpeedup({}).has_value());
  EXPECT_FALSE(GeomeanSpeedup({CaseResult{}}).has_value());
  std::vector<CaseResult> cases(3);
  cases[0].speedup = Interval{2, 2, 2};
  cases[2].speedup = Interval{8, 8, 8};
  EXPECT_NEAR(*GeomeanSpeedup(cases), 4.0, 1e-12);
  cases[1].speedup = Interval{std::numeric_limits<double>::infinity(), 0, 0};
  EXPECT_NEAR(*GeomeanSpeedup(cases), 4.0, 1e-12);
}

// The verdict is ok even if the seed ran on some cases, so the text must say how many.
TEST(Evaluation, TellsWhatTheSeedServed) {
  Evaluation e;
  for (int rows = 1; rows <= 7; ++rows) {
    CaseResult c;
    c.dims = {{"rows", rows}};
    c.role = rows <= 5 ? CaseRole::kCheck : CaseRole::kHidden;
    c.fallback = rows % 3 == 0 || rows == 7;
    e.cases.push_back(c);
  }
  CaseResult timed;
  timed.dims = {{"rows", 64}};
  e.cases.push_back(timed);
  const std::string text = DescribeFallback(e);
  EXPECT_THAT(text, HasSubstr("served 3 of the 7 checked cases, for"));
  EXPECT_THAT(text, HasSubstr("rows=3; rows=6; rows=7"));
  e.cases.back().fallback = true;
  EXPECT_THAT(DescribeFallback(e), HasSubstr("3 of the 7 checked cases and 1 of the 1 timed case,"));
  for (CaseResult& c : e.cases) c.fallback = false;
  EXPECT_EQ(DescribeFallback(e), "");
}

}  // namespace
}  // namespace hone
