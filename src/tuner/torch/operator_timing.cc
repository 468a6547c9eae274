// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/operator_timing.h"

#include <fmt/format.h>

#include <chrono>

#include "base/text/json_text.h"
#include "tuner/torch/scripts.h"

namespace hone {
namespace {

constexpr double kTimingSeconds = 1;  // that timed calls of forward may take; loading PyTorch and the first calls come on top
constexpr double kLimitSeconds = 120;  // for the whole process; Finish ends it earlier if describe.py is done

Result<OperatorProfile> Run(const Python& python, const nlohmann::json& job, const PythonOptions& options, const std::vector<std::string>& readable,
                            std::stop_token stop) {
  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory scratch, MakeTemporaryDirectory("", "hone-torch-"));
  HONE_ASSIGN_OR_RETURN(PythonStart start, StartOf(python, OperatorTimesScript(), scratch.path(), options, readable));
  SubprocessOptions run;
  run.argv = std::move(start.argv);
  run.environment = std::move(start.environment);
  run.working_directory = scratch.path();
  run.sandbox = std::move(start.sandbox);
  run.stdin_text = DumpJson(job);
  run.limit_seconds = kLimitSeconds;
  run.stop = std::move(stop);
  HONE_ASSIGN_OR_RETURN(const SubprocessResult ran, RunSubprocess(run));
  if (ran.stopped || ran.timed_out) return Status::TimedOut("PyTorch took too long");
  const size_t mark = ran.out.rfind("hone: ");
  if (mark == std::string::npos) return Status::Unavailable(fmt::format("the process that timed them ended with {}", ran.exit.Describe()));
  return ReadOperatorProfile(std::string_view(ran.out).substr(mark + 6));
}

}  // namespace

OperatorTiming::OperatorTiming(const Python& python, nlohmann::json job, PythonOptions options, int gpu, std::vector<std::string> readable) {
  options.gpu = gpu;
  job["gpu"] = gpu;
  job["seconds"] = kTimingSeconds;
  report_ = std::async(std::launch::async, [python, job = std::move(job), options = std::move(options), readable = std::move(readable), stop = stop_.get_token()] {
    return Run(python, job, options, readable, stop);
  });
}

OperatorTiming::~OperatorTiming() {
  stop_.request_stop();
  if (report_.valid()) report_.wait();
}

Result<OperatorProfile> OperatorTiming::Finish(double seconds) {
  if (report_.wait_for(std::chrono::duration<double>(seconds)) != std::future_status::ready) stop_.request_stop();
  return report_.get();
}

}  // namespace hone
