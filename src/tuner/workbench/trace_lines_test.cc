// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests compare traces with FlashInfer-Bench's documented schema: which fields a status requires, and which it
// forbids.
#include "tuner/workbench/trace_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hone {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kTask[] = R"(
name = "norm"
summary = "rows of unit length"
class = "reduction"
[dims]
rows = "rows"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "8"]
[[scalar]]
name = "eps"
value = 0.5
[[tensor]]
name = "y"
role = "out"
dtype = "float32"
shape = ["rows", "8"]
[reference]
kind = "torch"
inputs = ["x", "eps"]
outputs = ["y"]
definition = "norm_h8"
[reference.sizes]
rows = "batch"
[tolerance.y]
c_max = 1e-5
c_rms = 1e-6
[[case]]
role = "time"
dims = { rows = 64 }
[[case]]
role = "time"
dims = { rows = 16 }
[[case]]
role = "check"
dims = { rows = 3 }
)";

constexpr char kWorkloads[] =
    R"({"definition": "norm_h8", "workload": {"axes": {"batch": 64}, "inputs": {"x": {"type": "random"}}, "uuid": "first"}, "solution": null})"
    "\n\n"
    R"({"axes": {"batch": 64, "more": 2}, "inputs": {}, "uuid": "second"})"
    "\n";

Evaluation Judged(Verdict verdict) {
  Evaluation evaluation;
  evaluation.verdict = verdict;
  evaluation.detail = "told";
  evaluation.device = "cuda:0 NVIDIA H200";
  for (const int64_t rows : {64, 16}) {
    CaseResult result;
    result.dims = {{"rows", rows}};
    result.time_us = Interval{250, 240, 260};
    result.max_scaled_error = 1e-6;
    evaluation.cases.push_back(result);
  }
  return evaluation;
}

std::vector<json> Lines(const Evaluation& evaluation, const std::string& workloads = kWorkloads) {
  const Result<Task> task = ParseTask(kTask, "task.toml");
  EXPECT_TRUE(task.ok()) << task.status().message();
  const Result<std::vector<std::string>> lines =
      TraceLines(*task, evaluation, {"hone_norm_mine", "2026-11-24T04:00:00Z", "0.1.0", workloads});
  EXPECT_TRUE(lines.ok()) << lines.status().message();
  std::vector<json> parsed_lines;
  if (lines.ok()) {
    for (const std::string& line : *lines) parsed_lines.push_back(json::parse(line));
  }
  return parsed_lines;
}

TEST(TraceLines, EveryWorkloadOfATimedCaseHasOneAndACaseWithoutWorkloadsOneOfItsOwn) {
  const std::vector<json> lines = Lines(Judged(Verdict::kOk));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["workload"]["uuid"], "first");
  EXPECT_EQ(lines[1]["workload"]["uuid"], "second");
  EXPECT_EQ(lines[2]["workload"]["axes"], json({{"batch", 16}})) << "axes by the definition's names";
  EXPECT_EQ(lines[2]["workload"]["inputs"]["eps"], json({{"type", "scalar"}, {"value", 0.5}}));
  EXPECT_FALSE(lines[2]["workload"]["uuid"].get<std::string>().empty());
  for (const json& line : lines) {
    EXPECT_EQ(line["definition"], "norm_h8");
    EXPECT_EQ(line["solution"], "hone_norm_mine");
    const json& told = line["evaluation"];
    EXPECT_EQ(told["status"], "PASSED");
    EXPECT_EQ(told["environment"]["hardware"], "cuda:0 NVIDIA H200");
    EXPECT_EQ(told["environment"]["libs"]["hone"], "0.1.0");
    EXPECT_EQ(told["performance"]["latency_ms"], 0.25);
    EXPECT_EQ(told["performance"]["reference_latency_ms"], 0.0) << "nothing timed the reference";
    EXPECT_EQ(told["correctness"]["max_relative_error"], 1e-6);
    EXPECT_EQ(told["correctness"]["max_absolute_error"], "NaN") << "nobody measured it";
  }
}

TEST(TraceLines, OnlyWhatIsRightHasATime) {
  Evaluation wrong = Judged(Verdict::kWrongOutput);
  wrong.cases.clear();
  wrong.mismatch = Mismatch{.tensor = "y", .dims = {}, .distribution = "", .index = {}, .expected = 2.0, .actual = 2.5};
  for (const json& line : Lines(wrong)) {
    EXPECT_EQ(line["evaluation"]["status"], "INCORRECT_NUMERICAL");
    EXPECT_EQ(line["evaluation"]["correctness"]["max_absolute_error"], 0.5);
    EXPECT_EQ(line["evaluation"]["correctness"]["max_relative_error"], 0.25);
    EXPECT_TRUE(line["evaluation"]["performance"].is_null());
  }
  for (const auto& [verdict, status] : {std::pair{Verdict::kCompileError, "COMPILE_ERROR"},
                                        {Verdict::kParseError, "COMPILE_ERROR"},
                                        {Verdict::kTimedOut, "TIMEOUT"},
                                        {Verdict::kCrashed, "RUNTIME_ERROR"},
                                        {Verdict::kRuleViolation, "RUNTIME_ERROR"}}) {
    const std::vector<json> lines = Lines(Judged(verdict));
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0]["evaluation"]["status"], status);
    EXPECT_TRUE(lines[0]["evaluation"]["correctness"].is_null());
    EXPECT_TRUE(lines[0]["evaluation"]["performance"].is_null());
  }
}

TEST(TraceLines, AModelledTimeIsCalledModelled) {
  Evaluation modelled = Judged(Verdict::kOk);
  modelled.modelled = true;
  modelled.device = "sim";
  const std::vector<json> lines = Lines(modelled, "");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["evaluation"]["environment"]["hardware"], "simulated GPU (sim)");
  EXPECT_THAT(lines[0]["evaluation"]["log"].get<std::string>(), HasSubstr("modelled, not measured"));
}

TEST(TraceLines, WhatHasNoVerdictOrNoTimeIsRefused) {
  const Task task = ParseTask(kTask, "task.toml").value();
  Evaluation untimed = Judged(Verdict::kOk);
  untimed.cases.clear();
  EXPECT_THAT(TraceLines(task, untimed, {}).status().message(), HasSubstr("leave --no-time out"));
  EXPECT_THAT(TraceLines(task, Judged(Verdict::kDeviceLost), {}).status().message(),
              HasSubstr("device_lost says nothing about the candidate"));
  EXPECT_THAT(
      TraceLines(task, Judged(Verdict::kOk), {.solution = "", .timestamp = "", .version = "", .workloads = "{}"})
          .status()
          .message(),
      HasSubstr("workload.jsonl:1 is no workload"));
}

}  // namespace
}  // namespace hone
