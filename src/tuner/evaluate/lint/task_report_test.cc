// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/lint/task_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <limits>
#include <nlohmann/json.hpp>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

TaskReport Sample() {
  TaskReport report;
  report.task = "scale";
  report.device = "fake device";
  report.seed = 7;
  report.seed_runs = 3;
  report.hand = {{{{"n", 2}}, true, false, "the seed gives out[1] = 3"}};
  report.inputs = {{"x", false, 0.5, true}, {"eps", true, 0, false}};
  report.trivial = {{"out", "zeros", 1.0, 1.0, false}};
  OutputPrecision precision{.output = "out", .tolerance = {1e-4, 1e-5}};
  precision.trials = {{"float32", "honest", 1e-7, 2e-7, 3e-7, true, true},
                      {"float16_accumulation", "dishonest", std::numeric_limits<double>::infinity(), 1, 0, false, true},
                      {"tf32_inputs", "dishonest", 1e-7, 2e-7, 0, true, false}};
  precision.honest_rms = 1e-7;
  precision.dishonest_rms = std::numeric_limits<double>::infinity();
  precision.least_dishonest = "float16_accumulation";
  precision.gap = std::numeric_limits<double>::infinity();
  precision.proposed_c_rms = 4e-7;
  precision.proposed_c_max = 6e-7;
  report.precision = {precision};
  report.floor = FloorCheck{{{"n", 4}}, 12.5, 10, true};
  return report;
}

TEST(TaskReport, IsValidWithoutProblemsWhateverTheWarnings) {
  TaskReport report = Sample();
  report.warnings = {"no [[hidden]] cases"};
  EXPECT_TRUE(report.valid());
  EXPECT_EQ(nlohmann::json::parse(TaskReportToJson(report))["verdict"], "ok");
  report.problems = {"zeros passes"};
  EXPECT_FALSE(report.valid());
  EXPECT_EQ(nlohmann::json::parse(TaskReportToJson(report))["verdict"], "invalid_task");
}

TEST(TaskReport, JsonHoldsEveryFindingAndNoInfinity) {
  const nlohmann::json json = nlohmann::json::parse(TaskReportToJson(Sample(), -1));
  EXPECT_EQ(json["task"], "scale");
  EXPECT_EQ(json["seed_runs"], 3);
  EXPECT_EQ(json["hand"][0]["dims"]["n"], 2);
  EXPECT_EQ(json["hand"][0]["seed_ok"], false);
  EXPECT_EQ(json["inputs"][1]["input"], "eps");
  EXPECT_EQ(json["inputs"][1]["matters"], false);
  EXPECT_EQ(json["trivial"][0]["answer"], "zeros");
  EXPECT_EQ(json["precision"][0]["trials"][0]["stress_max_scaled"], 3e-7);
  EXPECT_TRUE(json["precision"][0]["trials"][1]["rms_error"].is_null());
  EXPECT_TRUE(json["precision"][0]["gap"].is_null());
  EXPECT_EQ(json["precision"][0]["c_rms"], 1e-5);
  EXPECT_EQ(json["floor"]["floor_us"], 10);
  EXPECT_EQ(json["floor"]["modelled"], true);
}

TEST(TaskReport, TextNamesWhatIsWrongAndLeavesOutWhatHadNoEffect) {
  TaskReport report = Sample();
  report.problems = {"the result does not depend on the scalar eps"};
  const std::string text = TaskReportToText(report);
  EXPECT_THAT(text, HasSubstr("eps DOES NOT MATTER"));
  EXPECT_THAT(text, HasSubstr("the seed takes a modelled 12.50 us for n=4, the floor is 10.00 us"));
  EXPECT_THAT(text, HasSubstr("n=2: the seed gives out[1] = 3"));
  EXPECT_THAT(text, HasSubstr("problem: the result does not depend on the scalar eps"));
  EXPECT_THAT(text, HasSubstr("float16_accumulation"));
  EXPECT_THAT(text, Not(HasSubstr("tf32_inputs")));
  EXPECT_TRUE(text.ends_with("invalid_task")) << text;
}

TEST(TaskReport, SuggestsNoLimitThatIsNone) {
  TaskReport report = Sample();
  EXPECT_THAT(TaskReportToText(report), HasSubstr("suggested c_max = 6e-07"));
  report.module = true;
  const std::string of_module = TaskReportToText(report);
  EXPECT_THAT(of_module, HasSubstr("the tolerance was derived at larger ones"));
  EXPECT_THAT(of_module, Not(HasSubstr("suggested c_max")));
  report.module = false;
  report.precision[0].proposed_c_max = 0;
  EXPECT_THAT(TaskReportToText(report), HasSubstr("no c_max can be suggested: an honest kernel's out is wrong by half its own size"));
  report.precision[0].trials[0].max_scaled = std::numeric_limits<double>::infinity();
  const std::string text = TaskReportToText(report);
  EXPECT_THAT(text, Not(HasSubstr("suggested c_max")));
  EXPECT_THAT(text, HasSubstr("no c_max can be suggested: an honest kernel's out is infinite or NaN"));
  EXPECT_THAT(text, HasSubstr("smaller scale, or stress = false"));
}

TEST(TaskReport, SaysWhyIntegersHaveNoPrecision) {
  TaskReport report = Sample();
  report.whole_numbers = {{"q", "int8", {.c_rms = 0.05, .absolute = 1}}, {"counts", "int32", {}}};
  const std::string text = TaskReportToText(report);
  EXPECT_THAT(text, HasSubstr("precision of q: int8, c_rms = 0.05, c_max = 0, abs = 1; no lower precision is tried"));
  EXPECT_THAT(text, HasSubstr("precision of counts: int32, right where it equals the oracle's"));
  const nlohmann::json json = nlohmann::json::parse(TaskReportToJson(report));
  EXPECT_EQ(json["whole_numbers"][0]["abs"], 1);
}

}  // namespace
}  // namespace hone
