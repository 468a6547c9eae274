// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/trace_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/numbers/hash.h"
#include "base/text/json_text.h"
#include "tuner/core/task/torch_module.h"

namespace hone {
namespace {

using nlohmann::json;

// Returns the status for a verdict, one of the seven of FlashInfer-Bench's schema; "" if the verdict is not about the
// candidate.
std::string StatusOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "PASSED";
    case Verdict::kWrongOutput:
      return "INCORRECT_NUMERICAL";
    case Verdict::kParseError:
    case Verdict::kCompileError:
      return "COMPILE_ERROR";
    case Verdict::kTimedOut:
      return "TIMEOUT";
    case Verdict::kResourceLimit:
    case Verdict::kLaunchError:
    case Verdict::kCrashed:
    case Verdict::kRuleViolation:
      return "RUNTIME_ERROR";
    case Verdict::kUnsupported:
    case Verdict::kInvalidTask:
    case Verdict::kDeviceLost:
      return "";
  }
  return "";
}

// Returns an error as JSON. The schema has words for NaN and infinity, which JSON lacks.
json ErrorJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return "Infinity";
  return value;
}

class Writer {
 public:
  Writer(const Task& task, const Evaluation& evaluation, const TraceFacts& facts)
      : task_(task), evaluation_(evaluation), facts_(facts) {
    definition_ = task.name;
    if (!HasTorchModule(task)) return;
    const TorchModule module = TorchModuleOf(task);
    if (!module.definition.empty()) definition_ = module.definition;
    for (const auto& [dim, name] : module.sizes) names_[dim] = name;
  }

  Result<std::vector<std::string>> Run() {
    HONE_ASSIGN_OR_RETURN(std::vector<json> workloads, ReadWorkloads());
    const std::string status = StatusOf(evaluation_.verdict);
    std::vector<std::string> lines;
    for (const Case& task_case : task_.cases) {
      if (task_case.role != CaseRole::kTime) continue;
      const CaseResult* result = ResultOf(task_case.dims);
      // A kernel that is right and was not timed gets no line, because the schema requires a time.
      if (status == "PASSED" && (result == nullptr || !result->time_us)) continue;
      const json evaluation = EvaluationJson(status, result);
      bool is_known = false;
      for (const json& workload : workloads) {
        if (!Fits(workload, task_case.dims)) continue;
        is_known = true;
        lines.push_back(TraceLine(workload, evaluation));
      }
      if (!is_known) lines.push_back(TraceLine(MadeWorkload(task_case.dims), evaluation));
    }
    return lines;
  }

 private:
  Result<std::vector<json>> ReadWorkloads() const {
    std::vector<json> traces;
    std::istringstream lines(facts_.workloads);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      HONE_ASSIGN_OR_RETURN(json one, ParseJson(line, fmt::format("{}/workload.jsonl:{}", task_.directory, number)));
      const json& workload =
          one.is_object() && one.contains("workload") && one["workload"].is_object() ? one["workload"] : one;
      if (!workload.is_object() || !workload.contains("axes") || !workload["axes"].is_object() ||
          !workload.contains("uuid")) {
        return Status::InvalidArgument(fmt::format(
            "{}/workload.jsonl:{} is no workload with axes and uuid: bring the definition in again with hone new",
            task_.directory, number));
      }
      traces.push_back(workload);
    }
    return traces;
  }

  std::string AxisOf(const std::string& dim) const {
    const auto name = names_.find(dim);
    return name == names_.end() ? dim : name->second;
  }
  bool Fits(const json& workload, const Dims& dims) const {
    for (const auto& [dim, size] : dims) {
      const json& axes = workload["axes"];
      const std::string axis = AxisOf(dim);
      if (!axes.contains(axis) || !axes[axis].is_number_integer() || axes[axis].get<int64_t>() != size) return false;
    }
    return true;
  }
  json MadeWorkload(const Dims& dims) const {
    json axes = json::object(), inputs = json::object();
    for (const auto& [dim, size] : dims) axes[AxisOf(dim)] = size;
    for (const TensorSpec& tensor : task_.tensors) {
      if (tensor.role != TensorRole::kOut) inputs[tensor.name] = {{"type", "random"}};
    }
    for (const ScalarSpec& scalar : task_.scalars) inputs[scalar.name] = {{"type", "scalar"}, {"value", scalar.value}};
    return {{"axes", axes}, {"inputs", inputs}, {"uuid", Sha256Hex(definition_ + DumpJson(axes)).substr(0, 32)}};
  }
  const CaseResult* ResultOf(const Dims& dims) const {
    for (const CaseResult& result : evaluation_.cases) {
      if (result.role == CaseRole::kTime && result.dims == dims) return &result;
    }
    return nullptr;
  }

  json EvaluationJson(const std::string& status, const CaseResult* result) const {
    std::string log = evaluation_.modelled ? "The time is modelled, not measured. " : "";
    log += evaluation_.detail;
    if (status == "PASSED") {
      log += fmt::format("{}The reference was not timed, so its latency and the speedup are 0.",
                         log.empty() || log.back() == ' ' ? "" : " ");
      if (result->speedup) log += fmt::format(" Over {}: {:.4g}x.", evaluation_.baseline, result->speedup->median);
    }
    json made = {
        {"status", status},
        {"environment",
         {{"hardware", evaluation_.modelled ? "simulated GPU (" + evaluation_.device + ")" : evaluation_.device},
          {"libs", {{"hone", facts_.version}}}}},
        {"timestamp", facts_.timestamp},
        {"log", log},
        {"correctness", nullptr},
        {"performance", nullptr}};
    if (status == "PASSED") {
      made["correctness"] = {
          {"max_relative_error", ErrorJson(result->max_scaled_error)},
          {"max_absolute_error", "NaN"},
          {"extra",
           {{"relative_to", "the larger of the element and the rms of its slice, in double precision"},
            {"rms_error", ErrorJson(result->rms_error)},
            {"guarantee", evaluation_.guarantee},
            {"labels", evaluation_.labels}}}};
      made["performance"] = {
          {"latency_ms", result->time_us->median / 1e3}, {"reference_latency_ms", 0.0}, {"speedup_factor", 0.0}};
    } else if (status == "INCORRECT_NUMERICAL") {
      const double unknown = std::numeric_limits<double>::quiet_NaN();
      double absolute = unknown, relative = unknown;
      if (const std::optional<Mismatch>& wrong = evaluation_.mismatch) {
        absolute = std::fabs(wrong->actual - wrong->expected);
        relative = wrong->expected == 0 ? unknown : absolute / std::fabs(wrong->expected);
      }
      made["correctness"] = {{"max_relative_error", ErrorJson(relative)},
                             {"max_absolute_error", ErrorJson(absolute)},
                             {"extra", {{"of", "the first element that differs"}}}};
    }
    return made;
  }

  std::string TraceLine(const json& workload, const json& evaluation) const {
    const json line = {
        {"definition", definition_}, {"workload", workload}, {"solution", facts_.solution}, {"evaluation", evaluation}};
    return DumpJson(line);
  }

  const Task& task_;
  const Evaluation& evaluation_;
  const TraceFacts& facts_;
  std::string definition_;
  std::map<std::string, std::string>
      names_;  // by dimension of the task: name of the axis in the definition, if it differs
};

}  // namespace

Result<std::vector<std::string>> TraceLines(const Task& task, const Evaluation& evaluation, const TraceFacts& facts) {
  if (StatusOf(evaluation.verdict).empty()) {
    return Status::InvalidArgument(
        fmt::format("the verdict {} says nothing about the candidate, so there is no trace of it: {}",
                    VerdictName(evaluation.verdict), evaluation.detail));
  }
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> lines, Writer(task, evaluation, facts).Run());
  if (lines.empty()) {
    return Status::InvalidArgument(
        "the candidate is right and was not timed, and a trace of what passed holds a time: leave --no-time out");
  }
  return lines;
}

}  // namespace hone
