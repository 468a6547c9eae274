// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This backend judges on the simulated GPU: the system's C++ compiler compiles kernels, which run in sandboxed child
// processes. Times are modelled, so jobs can be judged at the same time without disturbing each other; each job has a
// session of its own.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <thread>

#include "tuner/device/sim/image/sim_compiler.h"
#include "tuner/device/sim/sim_session.h"
#include "tuner/evaluate/backend.h"
#include "tuner/evaluate/compile/compile_cache.h"
#include "tuner/evaluate/compile/cutlass_headers.h"
#include "tuner/evaluate/judge/judge.h"
#include "tuner/evaluate/profiling/profile_cases.h"

namespace hone {
namespace {

class SimBackend : public Backend {
 public:
  // `cute` says which headers candidates that use CuTe get, or why they cannot be judged.
  SimBackend(const SimSessionOptions& options, std::unique_ptr<DeviceSession> session,
             std::unique_ptr<Compiler> compiler, SimCuteHeaders cute)
      : options_(options), facts_(session->facts()), compiler_(std::move(compiler)), cute_(std::move(cute)) {
    idle_.push_back({std::move(session), {}});
  }
  const DeviceFacts& facts() const override { return facts_; }
  int judges_at_once() const override {
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostSessions);
  }
  Compiler& compiler() override { return *compiler_; }
  Status CanInclude(std::string_view include_set) const override {
    return include_set == "cute" && !cute_.absent.empty() ? Status::Unavailable(cute_.absent) : Status::Ok();
  }
  JudgeTools tools() const override {
    return {.stated = true, .toolkit = facts_.driver, .cutlass = cute_.version, .no_cutlass = cute_.absent};
  }
  Result<Compiler*> host_compiler() override {
    return Status::Unavailable("host-mode candidates launch their own kernels through the CUDA runtime, which the "
                               "simulated GPU does not have; judge them with --device cuda:N, or write device code with a "
                               "launch plan (docs/candidate-format.md)");
  }
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress) override {
    HONE_ASSIGN_OR_RETURN(Place place, TakePlace());
    Result<Evaluation> evaluation = JudgeIn(place, job, progress);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(place));
    return evaluation;
  }

 private:
  static constexpr int kMostSessions = 8;  // a limit on memory: each session may hold the tensors of a timed case

  struct Place {
    std::unique_ptr<DeviceSession> session;
    FloorCache floors;
  };

  Result<Place> TakePlace() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Place place = std::move(idle_.back());
        idle_.pop_back();
        return place;
      }
    }
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> session, MakeSimSession(options_));
    return Place{std::move(session), {}};
  }

  static Result<Evaluation> JudgeIn(Place& place, const JudgeJob& job, const EvaluationProgress& progress) {
    JudgeRequest request{.task = &job.task, .candidate = &job.candidate, .oracle = &job.oracle, .reference = job.reference.get(),
                         .incumbent = job.incumbent ? &*job.incumbent : nullptr,
                         .fallback = job.fallback ? &*job.fallback : nullptr, .options = job.options,
                         .launch_limit_seconds = job.launch_limit_seconds, .floors = &place.floors};
    const JudgeProgress tell = [&](const std::string& phase, const std::string& detail, double) {
      if (progress) progress(phase, detail);
    };
    HONE_ASSIGN_OR_RETURN(Evaluation evaluation, hone::Judge(*place.session, request, tell));
    if (WantsProfile(job, evaluation)) {
      HONE_ASSIGN_OR_RETURN(evaluation.profile, ProfileCandidate(*place.session, request, tell));
    }
    return evaluation;
  }

  const SimSessionOptions options_;
  const DeviceFacts facts_;
  std::unique_ptr<Compiler> compiler_;
  const SimCuteHeaders cute_;
  std::mutex mutex_;
  std::vector<Place> idle_;  // idle sessions; the most recently used is at the back
};

}  // namespace

namespace {

SimCuteHeaders FindCute(const EvaluatorOptions& options) {
  SimCuteHeaders cute;
  const Result<CutlassHeaders> cutlass = FindCutlassHeaders(options.cutlass_home);
  const Result<std::string> cccl = FindCcclHeaders(options.cuda_home);
  // The compiler's sandbox needs the folders' canonical paths, without links.
  const auto own = [](const std::string& folder) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::canonical(folder, error);
    return error ? folder : path.string();
  };
  if (cutlass.ok() && cccl.ok()) {
    cute.cutlass = own(cutlass->include);
    cute.cccl = own(*cccl);
    cute.version = fmt::format("{}.{}.{}", cutlass->major, cutlass->minor, cutlass->patch);
  } else {
    cute.absent = (cutlass.ok() ? cccl.status() : cutlass.status()).message();
  }
  return cute;
}

}  // namespace

Result<std::unique_ptr<Backend>> MakeSimBackend(const EvaluatorOptions& options, const std::string& gpu) {
  SimCompilerOptions compile;
  compile.cache_directory = options.cache_directory;
  compile.limit_seconds = options.compile_limit_seconds;
  compile.cute = FindCute(options);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> compiler, MakeSimCompiler(compile));
  if (options.use_cache && !options.cache_directory.empty()) {
    HONE_ASSIGN_OR_RETURN(compiler, MakeCachedCompiler(std::move(compiler), {.directory = options.cache_directory + "/modules"}));
  }
  SimSessionOptions session_options;
  session_options.gpu = gpu;
  session_options.child_command = {options.executable, "__sim-child"};
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> session, MakeSimSession(session_options));
  return std::unique_ptr<Backend>(
      new SimBackend(session_options, std::move(session), std::move(compiler), compile.cute));
}

}  // namespace hone
