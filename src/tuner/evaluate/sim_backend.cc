// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging on the simulated GPU: the system's C++ compiler, and a session whose kernels run in sandboxed children.
#include "tuner/device/sim/sim_compiler.h"
#include "tuner/device/sim/sim_session.h"
#include "tuner/evaluate/backend.h"
#include "tuner/evaluate/compile/compile_cache.h"
#include "tuner/evaluate/judge/judge.h"
#include "tuner/evaluate/profiling/profile_cases.h"

namespace hone {
namespace {

class SimBackend : public Backend {
 public:
  SimBackend(std::unique_ptr<DeviceSession> session, std::unique_ptr<Compiler> compiler)
      : session_(std::move(session)), compiler_(std::move(compiler)) {}
  const DeviceFacts& facts() const override { return session_->facts(); }
  Compiler& compiler() override { return *compiler_; }
  Result<Compiler*> host_compiler() override {
    return Status::Unavailable("host-mode candidates launch their own kernels through the CUDA runtime, which the "
                               "simulated GPU does not have; judge them with --device cuda:N, or write device code with a "
                               "launch plan (docs/candidate-format.md)");
  }
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress) override {
    JudgeRequest request{.task = &job.task, .candidate = &job.candidate, .oracle = &job.oracle,
                         .incumbent = job.incumbent ? &*job.incumbent : nullptr,
                         .fallback = job.fallback ? &*job.fallback : nullptr, .options = job.options,
                         .launch_limit_seconds = job.launch_limit_seconds, .floors = &floors_};
    const JudgeProgress tell = [&](const std::string& phase, const std::string& detail, double) {
      if (progress) progress(phase, detail);
    };
    HONE_ASSIGN_OR_RETURN(Evaluation evaluation, hone::Judge(*session_, request, tell));
    if (WantsProfile(job, evaluation)) {
      HONE_ASSIGN_OR_RETURN(evaluation.profile, ProfileCandidate(*session_, request, tell));
    }
    return evaluation;
  }

 private:
  std::unique_ptr<DeviceSession> session_;
  std::unique_ptr<Compiler> compiler_;
  FloorCache floors_;
};

}  // namespace

Result<std::unique_ptr<Backend>> MakeSimBackend(const EvaluatorOptions& options, const std::string& gpu) {
  SimCompilerOptions compile;
  compile.cache_directory = options.cache_directory;
  compile.limit_seconds = options.compile_limit_seconds;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> compiler, MakeSimCompiler(compile));
  if (options.use_cache && !options.cache_directory.empty()) {
    HONE_ASSIGN_OR_RETURN(compiler, MakeCachedCompiler(std::move(compiler), {.directory = options.cache_directory + "/modules"}));
  }
  SimSessionOptions session_options;
  session_options.gpu = gpu;
  session_options.child_command = {options.executable, "__sim-child"};
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> session, MakeSimSession(session_options));
  return std::unique_ptr<Backend>(new SimBackend(std::move(session), std::move(compiler)));
}

}  // namespace hone
