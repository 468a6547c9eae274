// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines names and JSON of evaluations (docs/evaluation-json.md); evaluation_fields.h has the fields and their order.
#include "hone/tuner/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text/json_text.h"
#include "tuner/core/evaluation/evaluation_fields.h"
#include "tuner/core/fields/field_json.h"

namespace hone {

namespace {

using nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kVerdicts[] = {
    "ok",        "parse_error",  "compile_error",  "resource_limit", "launch_error", "crashed",
    "timed_out", "wrong_output", "rule_violation", "unsupported",    "invalid_task", "device_lost"};
constexpr std::string_view kCaseRoles[] = {"time", "check", "hidden"};

}  // namespace

std::span<const std::string_view> NamesOf(Verdict) { return kVerdicts; }
std::span<const std::string_view> NamesOf(CaseRole) { return kCaseRoles; }

OrderedJson IntervalToJson(const Interval& interval) {
  const auto number = [](double value) { return OrderedJson(NumberToJson(value)); };
  return {{"median", number(interval.median)}, {"ci95", {number(interval.low), number(interval.high)}}};
}

// Reads {median, ci95: [low, high]} into `target`, if the key is there.
void ReadInterval(JsonFields& fields, std::string_view key, std::optional<Interval>& target) {
  Interval interval;
  const bool has_object = fields.Object(key, [&](JsonFields& inner) {
    std::vector<double> ends;
    inner.Require("median", interval.median);
    inner.Require("ci95", ends);
    if (inner.ok() && ends.size() != 2) inner.Fail("ci95", "expected two numbers");
    if (!inner.ok()) return;
    interval.low = ends[0];
    interval.high = ends[1];
  });
  if (has_object && fields.ok()) target = interval;
}

// Reads a word that must be one of `names`, and returns its index; a failure is noted in `fields`.
std::optional<size_t> ReadName(JsonFields& fields, std::string_view key, std::span<const std::string_view> names) {
  std::string name;
  fields.Require(key, name);
  if (!fields.ok()) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  fields.Fail(key, fmt::format("'{}' is not one of {}", name, fmt::join(names, ", ")));
  return std::nullopt;
}

std::string_view VerdictName(Verdict v) { return kVerdicts[static_cast<size_t>(v)]; }

std::optional<Verdict> VerdictFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kVerdicts); ++i) {
    if (kVerdicts[i] == name) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

std::optional<double> GeomeanSpeedup(const std::vector<CaseResult>& cases) {
  double log_sum = 0;
  int count = 0;
  for (const CaseResult& result : cases) {
    // Skip an infinite or undefined ratio, which a time below the clock's resolution gives: it would determine the
    // mean.
    if (!result.speedup || !(result.speedup->median > 0) || std::isinf(result.speedup->median)) continue;
    log_sum += std::log(result.speedup->median);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(log_sum / count);
}

std::string EvaluationToJson(const Evaluation& evaluation, int indent) {
  OrderedJson object = {{"schema", "hone-evaluation-1"}};
  // A time is meaningless unless the verdict is ok, so it is not written with another one.
  VisitFields(evaluation, FieldWriter(object, evaluation.verdict == Verdict::kOk));
  return DumpJson(object, indent);
}

Result<Evaluation> EvaluationFromJson(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const json object, ParseJson(text, "the evaluation"));
  JsonFields fields(object, "evaluation");
  Evaluation evaluation;
  VisitFields(evaluation, FieldReader(fields));
  if (!fields.ok()) return fields.status();
  return evaluation;
}

}  // namespace hone
