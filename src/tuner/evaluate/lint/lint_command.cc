// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/lint/lint_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <thread>

#include "tuner/core/task/torch_module.h"
#include "tuner/evaluate/lint/lint_device.h"
#include "tuner/evaluate/lint/lint_task.h"
#include "tuner/torch/torch_reference.h"

namespace hone {
namespace {

constexpr std::string_view kDefaultGpu = "h200";

// Opens the device on which a task is checked.
Result<LintDevice> Open(const EvaluatorOptions& options) {
  const std::string& name = options.device;
  if (name == "sim") return OpenSimLintDevice(options, std::string(kDefaultGpu));
  if (name.rfind("sim:", 0) == 0) return OpenSimLintDevice(options, name.substr(4));
  if (name == "auto") {
    Result<LintDevice> cuda = OpenCudaLintDevice(options, 0);
    return cuda.ok() ? std::move(cuda) : OpenSimLintDevice(options, std::string(kDefaultGpu));
  }
  const std::string number = name == "cuda" ? "0" : name.rfind("cuda:", 0) == 0 ? name.substr(5) : "";
  const bool digits = !number.empty() && number.size() < 4 &&
                      std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!digits) {
    return Status::InvalidArgument(
        fmt::format("--device {}: a task is checked on auto, cuda:N, sim or sim:NAME", name));
  }
  return OpenCudaLintDevice(options, std::stoi(number));
}

}  // namespace

Result<LintOutcome> LintOnDevice(const Task& task, const EvaluatorOptions& options, const LintScope& scope) {
  HONE_ASSIGN_OR_RETURN(LintDevice device, Open(options));
  LintOptions lint;
  lint.compile_jobs = options.compile_jobs > 0 ? options.compile_jobs
                                               : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  lint.launch_limit_seconds = std::max(30.0, options.launch_limit_seconds);
  lint.precision = scope.precision;
  lint.dishonest = scope.dishonest;
  lint.all_values = scope.all_values;
  lint.other_values = scope.other_values;
  lint.hidden_draws = scope.hidden_draws;
  std::unique_ptr<HostReference> reference;
  if (HasTorchModule(task)) {
    HONE_ASSIGN_OR_RETURN(reference, StartTorchReference(task, {.environment = options.environment}));
    lint.reference = reference.get();
  }
  HONE_ASSIGN_OR_RETURN(TaskReport report, LintTask(task, *device.session, *device.compiler, lint));
  return LintOutcome{report.valid(),    TaskReportToText(report), TaskReportToJson(report), report.problems,
                     report.indistinct, report.nan_answer,        report.precision,
                     report.cancelling};
}

}  // namespace hone
