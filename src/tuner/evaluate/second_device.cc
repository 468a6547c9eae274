// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/second_device.h"

#include <utility>

#include "tuner/evaluate/compile/compile_candidate.h"

namespace hone {
namespace {

Result<CompiledProgram> Compile(Compiler& compiler, const Task& task, const std::string& source,
                                const std::string& name, const Binding& binding, bool is_oracle, int jobs) {
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, ParseCandidate(source, name, task, is_oracle));
  return CompileCandidate(compiler, candidate, task, binding, is_oracle, jobs);
}

const CompiledModule* Failure(const CompiledProgram& program) {
  for (const auto& [key, module] : program.modules) {
    if (module.verdict != Verdict::kOk) return &module;
  }
  return nullptr;
}

// Returns whether the text asks which of the two devices it is compiled for, a line break within the word included.
bool AsksForTheDevice(std::string source) {
  for (size_t at; (at = source.find("\\\n")) != std::string::npos;) source.erase(at, 2);
  return source.find("HONE_SIM") != std::string::npos;
}

}  // namespace

Result<Evaluation> JudgeSmallCases(Backend& simulated, const Task& task, const EvaluationRequest& request,
                                   double launch_limit_seconds, int compile_jobs,
                                   std::shared_ptr<HostReference> reference) {
  Evaluation cannot;
  cannot.verdict = Verdict::kUnsupported;
  JudgeJob job;
  job.task = SmallCases(task);
  if (job.task.cases.empty()) {
    cannot.detail = "no check case is small enough to simulate beside a GPU";
    return cannot;
  }
  HONE_ASSIGN_OR_RETURN(job.candidate, Compile(simulated.compiler(), task, request.source, request.name,
                                               request.binding, false, compile_jobs));
  if (const CompiledModule* failure = Failure(job.candidate)) {
    cannot.detail = "it does not compile there: " + failure->digest;
    return cannot;
  }
  if (reference != nullptr) {
    job.reference = std::move(reference);
  } else {
    HONE_ASSIGN_OR_RETURN(job.oracle, Compile(simulated.compiler(), task, task.oracle_source, task.name + "/oracle.cu",
                                              {}, true, compile_jobs));
    if (const CompiledModule* failure = Failure(job.oracle)) {
      cannot.detail = "the oracle does not compile there: " + failure->digest;
      return cannot;
    }
  }
  if (!task.seed_source.empty()) {
    // The seed runs the shapes that the plan leaves out.
    Result<CompiledProgram> seed =
        Compile(simulated.compiler(), task, task.seed_source, task.name + "/seed.cu", {}, false, compile_jobs);
    if (seed.ok() && Failure(*seed) == nullptr) job.fallback = *std::move(seed);
  }
  job.options = request;
  const bool asks = AsksForTheDevice(request.source);
  job.options.time = job.options.profile = job.options.libraries = false;
  job.launch_limit_seconds = launch_limit_seconds;
  HONE_ASSIGN_OR_RETURN(Evaluation judged, simulated.Judge(job, {}));
  if (asks) {
    judged.findings.insert(judged.findings.begin(),
                           {.kind = "simulated_other_code",
                            .message = "the text has parts for the simulated GPU alone (HONE_SIM): what ran there is not all of what "
                                       "the GPU ran",
                            .location = ""});
  }
  return judged;
}

}  // namespace hone
