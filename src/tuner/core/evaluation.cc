// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names and JSON of evaluations (docs/evaluation-json.md). The JSON is a promise to scripts, to the run store
// and to workers on other machines: fields are added, never renamed.
#include "hone/tuner/evaluation.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_fields.h"
#include "tuner/core/profile_json.h"

namespace hone {

namespace {

using nlohmann::json;
// Objects keep the order in which this file writes them: people read these.
using ordered = nlohmann::ordered_json;

constexpr std::string_view kVerdicts[] = {
    "ok",        "parse_error",  "compile_error",  "resource_limit", "launch_error", "crashed",
    "timed_out", "wrong_output", "rule_violation", "unsupported",    "invalid_task", "device_lost"};
constexpr std::string_view kCaseRoles[] = {"time", "check", "hidden"};

ordered Number(double value) { return ordered(NumberToJson(value)); }

ordered IntervalToJson(const Interval& interval) {
  return {{"median", Number(interval.median)}, {"ci95", {Number(interval.low), Number(interval.high)}}};
}

template <typename T, typename Convert>
void PutOptional(ordered& object, const char* key, const std::optional<T>& value, Convert convert) {
  if (value) object[key] = convert(*value);
}

ordered CaseToJson(const CaseResult& result, bool timed) {
  ordered object;
  object["dims"] = result.dims;
  object["role"] = CaseRoleName(result.role);
  if (timed) {
    PutOptional(object, "time_us", result.time_us, IntervalToJson);
    PutOptional(object, "baseline_us", result.baseline_us, Number);
    PutOptional(object, "speedup", result.speedup, IntervalToJson);
    PutOptional(object, "warm_time_us", result.warm_time_us, IntervalToJson);
    PutOptional(object, "warm_baseline_us", result.warm_baseline_us, Number);
    PutOptional(object, "warm_speedup", result.warm_speedup, IntervalToJson);
    PutOptional(object, "floor_us", result.floor_us, Number);
    PutOptional(object, "floor_fraction", result.floor_fraction, Number);
    PutOptional(object, "refuse_below_us", result.refuse_below_us, Number);
    if (!result.libraries.empty()) object["libraries"] = ordered::array();
    for (const LibraryResult& library : result.libraries) {
      ordered one = {{"name", library.name}};
      PutOptional(one, "time_us", library.time_us, Number);
      PutOptional(one, "speedup", library.speedup, IntervalToJson);
      one["detail"] = library.detail;
      object["libraries"].push_back(std::move(one));
    }
    if (!result.timing.status.empty()) {
      object["timing"] = {{"status", result.timing.status},
                          {"decision", result.timing.decision},
                          {"quads", result.timing.quads},
                          {"discarded_quads", result.timing.discarded_quads},
                          {"plans_per_sample", result.timing.plans_per_sample},
                          {"looks", result.timing.looks}};
    }
  }
  object["max_scaled_error"] = Number(result.max_scaled_error);
  object["rms_error"] = Number(result.rms_error);
  object["sampled_block_fraction"] = Number(result.sampled_block_fraction);
  if (result.fallback) object["fallback"] = true;
  return object;
}

void ReadInterval(JsonFields& fields, std::string_view key, std::optional<Interval>& target) {
  Interval interval;
  const bool found = fields.Object(key, [&](JsonFields& inner) {
    std::vector<double> ends;
    inner.Require("median", interval.median);
    inner.Require("ci95", ends);
    if (inner.ok() && ends.size() != 2) inner.Fail("ci95", "expected two numbers");
    if (!inner.ok()) return;
    interval.low = ends[0];
    interval.high = ends[1];
  });
  if (found && fields.ok()) target = interval;
}

// One of a closed set of names.
template <typename Enum, size_t n>
void ReadName(JsonFields& fields, std::string_view key, const std::string_view (&names)[n], Enum& target) {
  std::string name;
  fields.Require(key, name);
  if (!fields.ok()) return;
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) {
      target = static_cast<Enum>(i);
      return;
    }
  }
  fields.Fail(key, fmt::format("'{}' is not one of {}", name, fmt::join(names, ", ")));
}

void ReadCase(JsonFields& fields, CaseResult& result) {
  fields.Read("dims", result.dims);
  ReadName(fields, "role", kCaseRoles, result.role);
  ReadInterval(fields, "time_us", result.time_us);
  fields.Read("baseline_us", result.baseline_us);
  ReadInterval(fields, "speedup", result.speedup);
  ReadInterval(fields, "warm_time_us", result.warm_time_us);
  fields.Read("warm_baseline_us", result.warm_baseline_us);
  ReadInterval(fields, "warm_speedup", result.warm_speedup);
  fields.Read("floor_us", result.floor_us);
  fields.Read("floor_fraction", result.floor_fraction);
  fields.Read("refuse_below_us", result.refuse_below_us);
  fields.Objects("libraries", [&](JsonFields& one) {
    LibraryResult& library = result.libraries.emplace_back();
    one.Read("name", library.name);
    one.Read("time_us", library.time_us);
    ReadInterval(one, "speedup", library.speedup);
    one.Read("detail", library.detail);
  });
  fields.Object("timing", [&](JsonFields& timing) {
    timing.Read("status", result.timing.status);
    timing.Read("decision", result.timing.decision);
    timing.Read("quads", result.timing.quads);
    timing.Read("discarded_quads", result.timing.discarded_quads);
    timing.Read("plans_per_sample", result.timing.plans_per_sample);
    timing.Read("looks", result.timing.looks);
  });
  fields.Read("max_scaled_error", result.max_scaled_error);
  fields.Read("rms_error", result.rms_error);
  fields.Read("sampled_block_fraction", result.sampled_block_fraction);
  fields.Read("fallback", result.fallback);
}

ordered ResourcesToJson(const KernelResources& resources) {
  ordered object = {{"kernel", resources.kernel}};
  if (resources.registers >= 0) object["registers"] = resources.registers;
  object["spill_bytes"] = resources.spill_bytes;
  object["static_shared_bytes"] = resources.static_shared_bytes;
  object["dynamic_shared_bytes"] = resources.dynamic_shared_bytes;
  if (resources.occupancy > 0) object["occupancy"] = Number(resources.occupancy);
  return object;
}

ordered MismatchToJson(const Mismatch& mismatch) {
  return {{"tensor", mismatch.tensor},
          {"dims", mismatch.dims},
          {"distribution", mismatch.distribution},
          {"index", mismatch.index},
          {"expected", Number(mismatch.expected)},
          {"actual", Number(mismatch.actual)},
          {"wrong_elements", mismatch.wrong_elements},
          {"total_elements", mismatch.total_elements},
          {"seed", ordered(SeedToJson(mismatch.seed))}};
}

void ReadMismatch(JsonFields& fields, Mismatch& mismatch) {
  fields.Read("tensor", mismatch.tensor);
  fields.Read("dims", mismatch.dims);
  fields.Read("distribution", mismatch.distribution);
  fields.Read("index", mismatch.index);
  fields.Read("expected", mismatch.expected);
  fields.Read("actual", mismatch.actual);
  fields.Read("wrong_elements", mismatch.wrong_elements);
  fields.Read("total_elements", mismatch.total_elements);
  fields.Read("seed", mismatch.seed);
}

}  // namespace

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
    // A time below the clock's resolution gives a ratio that is no number; it must not become the mean of all.
    if (!result.speedup || !(result.speedup->median > 0) || std::isinf(result.speedup->median)) continue;
    log_sum += std::log(result.speedup->median);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(log_sum / count);
}

std::string EvaluationToJson(const Evaluation& evaluation, int indent) {
  // A time is worth nothing without the verdict that it belongs to, so it is not written with another one.
  const bool timed = evaluation.verdict == Verdict::kOk;
  ordered object;
  object["schema"] = "hone-evaluation-1";
  object["verdict"] = VerdictName(evaluation.verdict);
  object["detail"] = evaluation.detail;
  object["task"] = evaluation.task;
  object["candidate"] = evaluation.candidate;
  object["source_hash"] = evaluation.source_hash;
  object["device"] = evaluation.device;
  object["modelled"] = evaluation.modelled;
  object["guarantee"] = evaluation.guarantee;
  object["baseline"] = evaluation.baseline;
  object["binding"] = ordered(evaluation.binding);
  if (evaluation.binding.empty()) object["binding"] = ordered::object();
  object["labels"] = evaluation.labels;
  if (timed) PutOptional(object, "geomean_speedup", evaluation.geomean_speedup, Number);
  object["cases"] = ordered::array();
  for (const CaseResult& result : evaluation.cases) object["cases"].push_back(CaseToJson(result, timed));
  PutOptional(object, "mismatch", evaluation.mismatch, MismatchToJson);
  if (timed) PutOptional(object, "profile", evaluation.profile, ProfileToJson);
  object["findings"] = ordered::array();
  for (const Finding& finding : evaluation.findings) {
    object["findings"].push_back(
        ordered{{"kind", finding.kind}, {"message", finding.message}, {"location", finding.location}});
  }
  object["resources"] = ordered::array();
  for (const KernelResources& resources : evaluation.resources)
    object["resources"].push_back(ResourcesToJson(resources));
  object["stages"] = ordered::array();
  for (const Stage& stage : evaluation.stages) {
    object["stages"].push_back(
        ordered{{"name", stage.name}, {"seconds", Number(stage.seconds)}, {"holds_device", stage.holds_device}});
  }
  object["wall_seconds"] = Number(evaluation.wall_seconds);
  object["device_seconds"] = Number(evaluation.device_seconds);
  object["seed"] = ordered(SeedToJson(evaluation.seed));
  object["metrics"] = ordered::object();
  for (const auto& [name, value] : evaluation.metrics) object["metrics"][name] = Number(value);
  object["log"] = evaluation.log;
  return object.dump(indent, ' ', false, ordered::error_handler_t::replace);
}

Result<Evaluation> EvaluationFromJson(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const json object, ParseJson(text, "the evaluation"));
  JsonFields fields(object, "evaluation");
  Evaluation evaluation;
  ReadName(fields, "verdict", kVerdicts, evaluation.verdict);
  fields.Read("detail", evaluation.detail);
  fields.Read("log", evaluation.log);
  fields.Read("task", evaluation.task);
  fields.Read("candidate", evaluation.candidate);
  fields.Read("source_hash", evaluation.source_hash);
  fields.Read("device", evaluation.device);
  fields.Read("modelled", evaluation.modelled);
  fields.Read("guarantee", evaluation.guarantee);
  fields.Read("baseline", evaluation.baseline);
  fields.Read("binding", evaluation.binding);
  fields.Read("labels", evaluation.labels);
  fields.Read("geomean_speedup", evaluation.geomean_speedup);
  fields.Objects("cases", [&](JsonFields& one) { ReadCase(one, evaluation.cases.emplace_back()); });
  fields.Object("mismatch", [&](JsonFields& one) { ReadMismatch(one, evaluation.mismatch.emplace()); });
  fields.Object("profile", [&](JsonFields& one) { ReadProfile(one, evaluation.profile.emplace()); });
  fields.Objects("findings", [&](JsonFields& one) {
    Finding& finding = evaluation.findings.emplace_back();
    one.Read("kind", finding.kind);
    one.Read("message", finding.message);
    one.Read("location", finding.location);
  });
  fields.Objects("resources", [&](JsonFields& one) {
    KernelResources& resources = evaluation.resources.emplace_back();
    one.Read("kernel", resources.kernel);
    one.Read("registers", resources.registers);
    one.Read("spill_bytes", resources.spill_bytes);
    one.Read("static_shared_bytes", resources.static_shared_bytes);
    one.Read("dynamic_shared_bytes", resources.dynamic_shared_bytes);
    one.Read("occupancy", resources.occupancy);
  });
  fields.Objects("stages", [&](JsonFields& one) {
    Stage& stage = evaluation.stages.emplace_back();
    one.Read("name", stage.name);
    one.Read("seconds", stage.seconds);
    one.Read("holds_device", stage.holds_device);
  });
  fields.Read("wall_seconds", evaluation.wall_seconds);
  fields.Read("device_seconds", evaluation.device_seconds);
  fields.Read("seed", evaluation.seed);
  fields.Read("metrics", evaluation.metrics);
  if (!fields.ok()) return fields.status();
  return evaluation;
}

}  // namespace hone
