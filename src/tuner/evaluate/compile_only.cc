// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/compile_only.h"

#include <fmt/format.h>

#ifdef HONE_WITH_CUDA
#include <algorithm>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/numbers/hash.h"
#include "base/process/sandbox.h"
#include "tuner/evaluate/compile/compile_cache.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#endif

namespace hone {

#ifdef HONE_WITH_CUDA
namespace {

class CompileOnlyEvaluator final : public Evaluator {
 public:
  CompileOnlyEvaluator(std::unique_ptr<Compiler> compiler, const std::string& architecture, int jobs)
      : compiler_(std::move(compiler)), jobs_(jobs) {
    facts_.id = "the compiler";
    facts_.name = "for " + architecture;
  }
  const DeviceFacts& facts() const override { return facts_; }
  std::vector<std::string> SandboxWarnings() const override { return ProbeSandbox().Warnings(); }

  Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request,
                              const EvaluationProgress& progress) override {
    const Stopwatch watch;
    Evaluation evaluation;
    evaluation.task = task.name;
    evaluation.candidate = request.name;
    evaluation.source_hash = Sha256Hex(request.source);
    evaluation.device = facts_.id + " " + facts_.name;
    evaluation.labels.push_back("compiled_only");
    const auto with = [&](Verdict verdict, std::string detail) {
      evaluation.verdict = verdict;
      evaluation.detail = std::move(detail);
      evaluation.wall_seconds = watch.Seconds();
      return std::move(evaluation);
    };
    const Result<Candidate> candidate = ParseCandidate(request.source, request.name, task);
    if (!candidate.ok()) return with(Verdict::kParseError, candidate.status().message());
    if (candidate->plan.host_mode || !candidate->plan.machine_code.empty())
      return with(Verdict::kUnsupported,
                  "without a GPU, device code in CUDA C++ with a launch plan is compiled, and nothing else");
    if (progress) progress("compile", request.name);
    HONE_ASSIGN_OR_RETURN(const CompiledProgram program,
                          CompileCandidate(*compiler_, *candidate, task, request.binding, jobs_));
    evaluation.stages.push_back({"compile", watch.Seconds(), false});
    for (const auto& [key, module] : program.modules) {
      if (module.verdict == Verdict::kOk) continue;
      evaluation.log = module.log;
      return with(module.verdict, module.digest);
    }
    return with(Verdict::kOk, "");
  }

 private:
  const std::unique_ptr<Compiler> compiler_;
  DeviceFacts facts_;
  const int jobs_;
};

bool IsArchitecture(std::string_view name) {
  if (name.substr(0, 3) != "sm_") return false;
  name.remove_prefix(3);
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) name.remove_suffix(1);
  return name.size() >= 2 && name.size() <= 3 && name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<Evaluator>> MakeCompileOnlyEvaluator(const EvaluatorOptions& options,
                                                            const std::string& architecture) {
  if (!IsArchitecture(architecture)) {
    return Status::InvalidArgument(fmt::format(
        "'{}' is no GPU architecture: write sm_90a for an H100 or H200, sm_80 for an A100, sm_86, sm_89, sm_100a, …",
        architecture));
  }
  NvrtcCompilerOptions nvrtc;
  nvrtc.cuda_home = options.cuda_home;
  nvrtc.cutlass_include = options.cutlass_home;
  nvrtc.architecture = architecture;
  nvrtc.limit_seconds = options.compile_limit_seconds;
  nvrtc.zygote_argv = {options.executable, "__nvrtc-zygote"};
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<NvrtcCompiler> made, MakeNvrtcCompiler(nvrtc));
  // An architecture that this NVRTC does not know must not look like a candidate's fault.
  TranslationUnit nothing;
  nothing.file = "nothing.cu";
  nothing.body = "__global__ void nothing() {}\n";
  nothing.kernels = {"nothing"};
  const Result<CompiledModule> compiled_nothing = made->Compile(nothing);
  const bool unknown =
      !compiled_nothing.ok() && compiled_nothing.status().message().find("INVALID_OPTION") != std::string::npos;
  if (!compiled_nothing.ok() && !unknown) return compiled_nothing.status();
  if (unknown || compiled_nothing->verdict != Verdict::kOk) {
    return Status::InvalidArgument(
        fmt::format("the CUDA toolkit here compiles nothing for {}: {}", architecture,
                    unknown ? compiled_nothing.status().message() : compiled_nothing->digest));
  }
  std::unique_ptr<Compiler> compiler = std::move(made);
  if (options.use_cache && !options.cache_directory.empty()) {
    HONE_ASSIGN_OR_RETURN(compiler,
                          MakeCachedCompiler(std::move(compiler), {.directory = options.cache_directory + "/modules"}));
  }
  const int jobs = options.compile_jobs > 0 ? options.compile_jobs
                                            : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::unique_ptr<Evaluator>(new CompileOnlyEvaluator(std::move(compiler), architecture, jobs));
}
#else
Result<std::unique_ptr<Evaluator>> MakeCompileOnlyEvaluator(const EvaluatorOptions&, const std::string&) {
  return Status::Unavailable(
      "this build of hone has no CUDA device: install the CUDA toolkit (12.8 or newer) and build again with `make build CMAKE_FLAGS=-DHONE_CUDA=ON`");
}
#endif

}  // namespace hone
