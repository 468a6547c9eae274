// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file takes one candidate through an evaluation: parse the plan, compile its modules beside the oracle and the
// incumbent, then let the device judge. A candidate's fault is a verdict; only the environment's faults are errors.
#include "hone/tuner/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <semaphore>
#include <thread>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/numbers/random.h"
#include "base/process/sandbox.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/evaluate/backend.h"
#include "tuner/evaluate/baseline/library_timing.h"
#include "tuner/evaluate/check_request.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/local_evaluator.h"
#include "tuner/evaluate/module_incumbent.h"
#include "tuner/evaluate/profiling/profile_rules.h"
#include "tuner/evaluate/profiling/sass_lines.h"
#include "tuner/evaluate/second_device.h"
#include "tuner/evaluate/spool.h"
#include "tuner/queue/queue_evaluator.h"
#include "tuner/queue/redis_connection.h"
#include "tuner/torch/torch_reference.h"

namespace hone {
namespace {

constexpr size_t kProgramsKept = 64;      // limit on compiled oracles and incumbents in memory
constexpr double kLongestLaunch = 86400;  // seconds
// A device with less memory runs a candidate's checks and its watched cases one after the other: three contexts under a
// tool have taken more than a GiB, which a check of the largest shapes may need.
constexpr int64_t kMemoryForBoth = int64_t{32} << 30;

class LocalEvaluator : public Evaluator {
 public:
  LocalEvaluator(std::unique_ptr<Backend> backend, BackendFactory simulated, const EvaluatorOptions& options)
      : backend_(std::move(backend)),
        make_simulated_(std::move(simulated)),
        options_(options),
        device_places_(backend_->judges_at_once()) {
    jobs_ = options.compile_jobs > 0 ? options.compile_jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }

  const DeviceFacts& facts() const override { return backend_->facts(); }
  Status CanInclude(std::string_view include_set) const override { return backend_->CanInclude(include_set); }
  JudgeTools Tools() const override { return backend_->tools(); }
  std::vector<std::string> SandboxWarnings() const override { return ProbeSandbox().Warnings(); }
  Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request,
                              const EvaluationProgress& report_progress) override;

 private:
  using Program = std::shared_ptr<const CompiledProgram>;
  Result<Program> Compile(const Task& task, const std::string& source, const std::string& name, const Binding& binding, bool is_oracle);
  // Returns the compiler that `candidate` needs.
  Result<Compiler*> CompilerFor(const Candidate& candidate) {
    if (candidate.plan.host_mode) return backend_->host_compiler();
    if (!candidate.plan.machine_code.empty()) return backend_->machine_code_compiler();
    return &backend_->compiler();
  }

  // Judges the candidate's small cases on the simulated GPU, which is made at the first call. Several threads may call
  // this at the same time.
  Result<Evaluation> Simulate(const Task& task, const EvaluationRequest& request) {
    {
      std::lock_guard lock(simulated_mutex_);
      if (simulated_ == nullptr) {
        HONE_ASSIGN_OR_RETURN(simulated_, make_simulated_());
      }
    }
    std::shared_ptr<HostReference> reference;
    if (HasTorchModule(task)) {
      HONE_ASSIGN_OR_RETURN(reference, references_.Get(task, {.environment = options_.environment}));
    }
    return JudgeSmallCases(*simulated_, task, request, options_.launch_limit_seconds, jobs_, std::move(reference));
  }
  // Returns the reason why the simulated GPU does not judge this candidate beside the GPU; empty: it does.
  std::string WhyAlone(const EvaluationRequest& request, const Candidate& candidate) const {
    if (!request.simulate || !options_.simulate) return "turned off with --no-sim";
    if (candidate.plan.host_mode) return "code in host mode launches its own kernels";
    if (!candidate.plan.machine_code.empty()) {
      return "it runs source alone, and this is machine code, of which races, memory read before it is written and reads that stay inside "
             "the tensors' memory were not looked for";
    }
    return make_simulated_ ? "" : "this program has none";
  }

  // Compiles the candidate once more, with line information, and disassembles it.
  Status AddSass(const Task& task, const CompiledProgram& program, Compiler& compiler, Profile* profile);
  // Returns how PyTorch is run on this GPU beside a candidate; null: by itself.
  TorchOptions TorchOn(const CompiledProgram* candidate, uint64_t seed) const;
  void HoldAgainstLibraries(const std::vector<LibrarySpec>& specs, const Task& task, const JudgeJob& job,
                            const EvaluationProgress& progress, Evaluation* evaluation);
  // Evaluates the task's own PyTorch module, which is right by definition: times it, or, if no times are asked for, finds out
  // whether it runs at the sizes of all cases.
  Status EvaluateModule(const Task& task, const EvaluationRequest& request, Evaluation* evaluation);

  std::unique_ptr<Backend> backend_, simulated_;
  BackendFactory make_simulated_;
  std::mutex simulated_mutex_;
  EvaluatorOptions options_;
  int jobs_ = 1;
  std::counting_semaphore<> device_places_;
  std::mutex programs_mutex_;
  std::map<std::string, Program> programs_;
  TorchReferences references_{ReferencesKept(MachineMemory(), 0)};
};

// The small cases of machine code, which a thread runs under the tool that watches memory (Backend::Sanitize).
class WatchedCases {
 public:
  // `backend` must outlive the object.
  WatchedCases(Backend& backend, JudgeJob job)
      : thread_([this, &backend, job = std::move(job)](std::stop_token stop) { sanitized_ = backend.Sanitize(job, std::move(stop)); }) {}
  WatchedCases(const WatchedCases&) = delete;
  // Waits for the tool's answer.
  const Result<Evaluation>& Wait() {
    const Stopwatch watch;
    if (thread_.joinable()) thread_.join();
    waited_seconds_ += watch.Seconds();
    return sanitized_;
  }
  double waited_seconds() const { return waited_seconds_; }

 private:
  Result<Evaluation> sanitized_ = Status::Internal("the tool has not answered");
  double waited_seconds_ = 0;  // of the verdict, for the tool
  std::jthread thread_;        // its destructor ends the tool
};

// Returns the job without anything that is timed, or that belongs to timing.
JudgeJob ChecksOf(JudgeJob job) {
  job.incumbent.reset();
  job.options.time = job.options.profile = job.options.libraries = job.vast_follows = false;
  job.before_timing = nullptr;
  return job;
}

// Returns the first module that did not compile, or null.
const CompiledModule* FirstFailure(const CompiledProgram& program) {
  for (const auto& [key, module] : program.modules) {
    if (module.verdict != Verdict::kOk) return &module;
  }
  return nullptr;
}

// Returns whether the plan may leave shapes to the seed: some step has no alternative that holds for every shape.
bool LeavesShapesOut(const LaunchPlan& plan) {
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    const bool last = i + 1 == plan.entries.size() || plan.entries[i + 1].step != plan.entries[i].step;
    if (last && plan.entries[i].when) return true;
  }
  return false;
}

// Compiles a trusted program (oracle, incumbent or seed) and keeps it, because every candidate of a task needs the same
// ones.
Result<LocalEvaluator::Program> LocalEvaluator::Compile(const Task& task, const std::string& source, const std::string& name,
                                                        const Binding& binding, bool is_oracle) {
  const std::string key = Sha256Hex(task.toml + '\0' + source + '\0' + BindingKey(binding) + (is_oracle ? "o" : "c"));
  {
    std::lock_guard lock(programs_mutex_);
    if (auto known = programs_.find(key); known != programs_.end()) return known->second;
  }
  HONE_ASSIGN_OR_RETURN(Candidate candidate, ParseCandidate(source, name, task, is_oracle));
  HONE_ASSIGN_OR_RETURN(Compiler * compiler, CompilerFor(candidate));
  HONE_ASSIGN_OR_RETURN(CompiledProgram compiled, CompileCandidate(*compiler, candidate, task, binding, jobs_));
  if (const CompiledModule* failure = FirstFailure(compiled)) {
    return Status::InvalidArgument(fmt::format("{} does not compile: {}", name, failure->digest));
  }
  auto program = std::make_shared<const CompiledProgram>(std::move(compiled));
  std::lock_guard lock(programs_mutex_);
  if (programs_.size() >= kProgramsKept) programs_.clear();
  programs_[key] = program;
  return program;
}

Status LocalEvaluator::AddSass(const Task& task, const CompiledProgram& program, Compiler& compiler, Profile* profile) {
  const auto note = [&](const std::string& sentence) { profile->note += (profile->note.empty() ? "" : "; ") + sentence; };
  if (!program.candidate.plan.machine_code.empty()) {
    note("a candidate of machine code has no source to show it beside: use nvdisasm on its image");
    return Status::Ok();
  }
  if (facts().modelled || program.candidate.plan.host_mode) {
    note(facts().modelled ? "machine code is shown for device code compiled for a GPU: use --device cuda:N"
                          : "nor is its machine code shown");
    return Status::Ok();
  }
  Candidate candidate = program.candidate;
  std::vector<std::string>& options = candidate.plan.compiler_options;
  if (std::find(options.begin(), options.end(), "-lineinfo") == options.end()) options.push_back("-lineinfo");
  HONE_ASSIGN_OR_RETURN(const CompiledProgram lined,
                        CompileCandidate(compiler, candidate, task, program.binding, jobs_));
  std::vector<std::string> directories;
  for (const std::string& variable : options_.environment) {
    if (variable.rfind("PATH=", 0) == 0) directories = SplitSearchPath(std::string_view(variable).substr(5));
  }
  if (!options_.cuda_home.empty()) directories.push_back(options_.cuda_home + "/bin");
  directories.push_back("/usr/local/cuda/bin");
  for (const auto& [key, module] : lined.modules) {
    std::map<std::string, std::string> kernels;
    for (const auto& [name, symbol] : module.lowered) kernels[symbol] = key.empty() ? name : fmt::format("{} with {}", name, key);
    const Result<std::vector<SassLine>> lines = DisassembleLines(module.image, kernels, directories);
    if (!lines.ok()) {
      if (lines.status().code() != StatusCode::kUnavailable) return lines.status();
      note(lines.status().message());
      return Status::Ok();
    }
    profile->sass.insert(profile->sass.end(), lines->begin(), lines->end());
  }
  AddSourceText(candidate.source, candidate.name, &profile->sass);
  return Status::Ok();
}

// Times the candidate against libraries; the caller holds the device. For each library, the candidate's own job runs
// again with the library as the incumbent, without the checks that were made already.
void LocalEvaluator::HoldAgainstLibraries(const std::vector<LibrarySpec>& specs, const Task& task, const JudgeJob& job,
                                          const EvaluationProgress& progress, Evaluation* evaluation) {
  if (facts().modelled || specs.empty()) {
    const std::string why = specs.empty() ? "the task names none: write a baseline.toml beside its task.toml (docs/task-format.md)"
                                          : "run on a GPU only: use --device cuda:N";
    for (CaseResult& c : evaluation->cases) {
      if (c.role == CaseRole::kTime) c.libraries.push_back({"libraries", std::nullopt, std::nullopt, why});
    }
    return;
  }
  const TimeAgainst against = [&](const std::string& source, const std::string& name) -> Result<Evaluation> {
    HONE_ASSIGN_OR_RETURN(const Program library, Compile(task, source, name, {}, /*is_oracle=*/false));
    JudgeJob held = job;
    held.incumbent = *library;
    held.incumbent_is_library = true;
    held.options.check_cases = held.options.profile = held.options.warm = false;
    held.options.correctness_trials = 1;
    return backend_->Judge(held, progress);
  };
  TimeLibraries(specs, task, against, TorchOn(&job.candidate, job.options.seed), evaluation);
}

TorchOptions LocalEvaluator::TorchOn(const CompiledProgram* candidate, uint64_t seed) const {
  TorchOptions torch;
  torch.environment = options_.environment;
  torch.l2_bytes = facts().l2_bytes;
  torch.seed = seed;
  torch.candidate = candidate;
  torch.facts = facts();
  for (const std::string& variable : options_.environment) {
    if (variable.rfind("PATH=", 0) == 0) torch.python_directories = SplitSearchPath(std::string_view(variable).substr(5));
  }
  const size_t colon = facts().id.find(':');  // ids look like "cuda:1"
  if (colon != std::string::npos) torch.ordinal = std::atoi(facts().id.c_str() + colon + 1);
  return torch;
}

Status LocalEvaluator::EvaluateModule(const Task& task, const EvaluationRequest& request, Evaluation* evaluation) {
  evaluation->verdict = Verdict::kOk;
  evaluation->gates = kGatesVersion;
  std::shared_ptr<HostReference> reference;
  if (facts().modelled || !request.time) {
    HONE_ASSIGN_OR_RETURN(reference, references_.Get(task, {.environment = options_.environment}));
  }
  if (!request.time) {
    for (const Case& c : task.cases) {
      const Status runs = reference->Operators(c.dims).status();
      if (runs.ok()) continue;
      if (runs.code() != StatusCode::kInvalidArgument) return runs;
      evaluation->verdict = Verdict::kLaunchError;
      evaluation->detail = runs.message();
      return Status::Ok();
    }
    return Status::Ok();
  }
  size_t number = 0;
  for (const Case& c : task.cases) {
    if (c.role != CaseRole::kTime) continue;
    const bool asked = request.only_time_cases.empty() || std::count(request.only_time_cases.begin(), request.only_time_cases.end(), number) > 0;
    ++number;
    if (!asked) continue;
    CaseResult& result = evaluation->cases.emplace_back();
    result.dims = c.dims;
    if (facts().modelled) result.timing.status = "modelled";
  }
  device_places_.acquire();
  const Status timed = TimeAgainstModule(task, TorchOn(nullptr, request.seed), reference.get(), evaluation);
  device_places_.release();
  return timed;
}

Result<Evaluation> LocalEvaluator::Evaluate(const Task& task, const EvaluationRequest& given_request,
                                            const EvaluationProgress& report_progress) {
  HONE_RETURN_IF_ERROR(CheckRequest(task, given_request));
  const double started = SteadySeconds();
  // The judge reports at every launch; the caller gets only reports that change the text.
  std::string last_phase, last_detail;
  const EvaluationProgress progress = [&](const std::string& phase, const std::string& detail) {
    if (!report_progress || (phase == last_phase && detail == last_detail)) return;
    last_phase = phase;
    last_detail = detail;
    report_progress(phase, detail);
  };
  EvaluationRequest request = given_request;
  if (request.seed == 0) request.seed = SystemSeed() | 1;
  const std::string hash = Sha256Hex(request.source);
  std::vector<Stage> stages;
  const auto finish = [&](Evaluation evaluation) {
    evaluation.task = task.name;
    evaluation.candidate = request.name;
    evaluation.source_hash = hash;
    evaluation.device = facts().id + " " + facts().name;
    evaluation.modelled = facts().modelled;
    evaluation.seed = request.seed;
    evaluation.stages.insert(evaluation.stages.begin(), stages.begin(), stages.end());
    evaluation.wall_seconds = SteadySeconds() - started;
    return evaluation;
  };
  const auto stop = [&](Verdict verdict, std::string detail) {
    Evaluation evaluation;
    evaluation.verdict = verdict;
    evaluation.detail = std::move(detail);
    return finish(std::move(evaluation));
  };

  if (IsOwnModule(task, request.source)) {
    Evaluation evaluation;
    progress("time", request.name);
    HONE_RETURN_IF_ERROR(EvaluateModule(task, request, &evaluation));
    return finish(std::move(evaluation));
  }

  // An error in baseline.toml is the task's fault and is reported before minutes are spent on judging.
  std::vector<LibrarySpec> libraries;
  if (request.libraries) {
    Result<std::vector<LibrarySpec>> specs = LoadBaselines(task);
    if (!specs.ok()) return stop(Verdict::kInvalidTask, specs.status().message());
    libraries = std::move(*specs);
  }

  // Parse the plan.
  progress("plan", request.name);
  Result<Candidate> candidate = ParseCandidate(request.source, request.name, task);
  stages.push_back({"plan", SteadySeconds() - started, false});
  if (!candidate.ok()) return stop(Verdict::kParseError, candidate.status().message());
  if (const int line = LineOfCall(candidate->plan); line > 0 && !request.allow_calls) {
    return stop(Verdict::kRuleViolation, fmt::format("{}:{}: the plan calls a library, which --no-calls forbids: write a kernel in "
                                                     "place of the [[call]]",
                                                     request.name, line));
  }
  Result<Compiler*> compiler = CompilerFor(*candidate);
  if (!compiler.ok()) return stop(Verdict::kUnsupported, compiler.status().message());

  // Compile the candidate and, at the same time, the programs with which it will be compared.
  const double compile_started = SteadySeconds();
  progress("compile", request.name);
  std::string incumbent_source = request.incumbent_source.empty() ? task.seed_source : request.incumbent_source;
  std::string incumbent_name = request.incumbent_source.empty() ? task.name + "/seed.cu" : request.incumbent_name;
  const bool against_module = request.time && IsOwnModule(task, incumbent_source);
  const bool has_incumbent = request.time && !incumbent_source.empty() && !against_module;
  Result<Program> oracle = Status::Internal("not compiled"), incumbent = Status::Internal("not compiled");
  const bool has_module = HasTorchModule(task);
  Result<std::shared_ptr<HostReference>> reference = std::shared_ptr<HostReference>();
  std::thread oracle_thread([&] {
    if (!has_module) {
      oracle = Compile(task, task.oracle_source, task.name + "/oracle.cu", {}, /*is_oracle=*/true);
    } else if (facts().modelled) {  // on a GPU, the worker starts the reference
      reference = references_.Get(task, {.environment = options_.environment});
    }
  });
  std::thread incumbent_thread([&] {
    if (has_incumbent)
      incumbent = Compile(task, incumbent_source, incumbent_name, request.incumbent_binding, /*is_oracle=*/false);
  });
  Result<CompiledProgram> compiled =
      CompileCandidate(**compiler, *candidate, task, request.binding, jobs_);
  oracle_thread.join();
  incumbent_thread.join();
  stages.push_back({"compile", SteadySeconds() - compile_started, false});
  if (!compiled.ok()) return compiled.status();
  if (const CompiledModule* failure = FirstFailure(*compiled)) {
    Evaluation evaluation;
    evaluation.verdict = failure->verdict;
    evaluation.detail = failure->digest;
    evaluation.log = failure->log;
    return finish(std::move(evaluation));
  }
  const auto at_fault = [&](const Status& status) -> Result<Evaluation> {
    if (status.code() == StatusCode::kInvalidArgument) return stop(Verdict::kInvalidTask, status.message());
    return status;
  };
  if (!has_module && !oracle.ok()) return at_fault(oracle.status());
  if (!reference.ok()) return at_fault(reference.status());
  if (has_module && candidate->plan.host_mode) {
    return stop(Verdict::kUnsupported, "a candidate in host mode is judged in a process that may start no other, and this task's "
                                       "reference is one: write device code with a launch plan");
  }
  if (has_incumbent && !incumbent.ok()) return at_fault(incumbent.status());

  // A plan that does not serve every shape leaves the rest to the seed.
  std::optional<CompiledProgram> fallback;
  if (LeavesShapesOut(candidate->plan) && !task.seed_source.empty()) {
    Result<Program> seed = Compile(task, task.seed_source, task.name + "/seed.cu", {}, /*is_oracle=*/false);
    if (!seed.ok()) return at_fault(seed.status());
    fallback = **seed;
  }

  // The simulated GPU has a reference of its own. Loading PyTorch takes seconds, so it begins before the GPU judges; an
  // error is met again by Simulate.
  std::thread second_reference;
  if (has_module && !facts().modelled && request.check_cases && WhyAlone(request, *candidate).empty()) {
    second_reference = std::thread([&] { (void)references_.Get(task, {.environment = options_.environment}); });
  }
  struct Join {
    std::thread* thread;
    ~Join() {
      if (thread->joinable()) thread->join();
    }
  } const join{&second_reference};

  // Judge. The device accepts as many evaluations at a time as judges_at_once().
  JudgeJob job;
  job.task = task;
  job.candidate = std::move(*compiled);
  if (!has_module) job.oracle = **oracle;
  job.reference = *reference;
  if (has_module) job.python_environment = options_.environment;
  if (has_incumbent) job.incumbent = **incumbent;
  job.fallback = std::move(fallback);
  job.options = request;
  job.launch_limit_seconds = options_.launch_limit_seconds;
  const bool asked_for_both = request.simulate && options_.simulate;
  // Machine code runs its small cases on the GPU itself, under a tool that watches.
  const bool watched = !facts().modelled && request.check_cases && asked_for_both && !job.candidate.candidate.plan.machine_code.empty();
  job.vast_follows = watched && !UsesHostMode(job);
  // The tool runs beside the checks, whose time mostly goes into the start of processes and contexts, and has ended before
  // anything is timed or counted.
  const bool beside_checks = watched && !UsesHostMode(job) && facts().memory_bytes >= kMemoryForBoth &&
                             (request.time || !(request.profile || request.libraries));
  const double wait_started = SteadySeconds();
  device_places_.acquire();
  struct Leave {
    std::counting_semaphore<>* places;
    void operator()(void*) const { places->release(); }
  };
  std::unique_ptr<void, Leave> held(&device_places_, Leave{&device_places_});
  if (SteadySeconds() - wait_started > 1e-3) stages.push_back({"wait", SteadySeconds() - wait_started, false});
  std::optional<WatchedCases> watching;
  if (beside_checks) {
    watching.emplace(*backend_, ChecksOf(job));
    job.before_timing = [&] {
      progress("sanitize", request.name);
      (void)watching->Wait();
    };
  }
  HONE_ASSIGN_OR_RETURN(Evaluation evaluation, backend_->Judge(job, progress));
  job.before_timing = nullptr;
  if (evaluation.verdict != Verdict::kOk) watching.reset();
  if (UsesHostMode(job)) evaluation.guarantee = kHostModeGuarantee;
  if (has_incumbent) evaluation.baseline = incumbent_name;
  if (UsesHostMode(job) && WantsProfile(job, evaluation)) {
    evaluation.profile.emplace().note = "code in host mode launches its own kernels, which are not counted here: run a program that calls it under ncu";
  }
  if (evaluation.profile && request.sass) HONE_RETURN_IF_ERROR(AddSass(task, job.candidate, **compiler, &*evaluation.profile));
  if (evaluation.profile) AttachProfile(task, facts(), std::move(*evaluation.profile), &evaluation);
  if (against_module && evaluation.verdict == Verdict::kOk) {
    const double module_started = SteadySeconds();
    progress("time", incumbent_name);
    HONE_RETURN_IF_ERROR(TimeAgainstModule(task, TorchOn(&job.candidate, job.options.seed), facts().modelled ? job.reference.get() : nullptr, &evaluation));
    evaluation.baseline = incumbent_name;
    evaluation.stages.push_back({"module", SteadySeconds() - module_started, true});
  }
  if (request.libraries && evaluation.verdict == Verdict::kOk) {
    const double libraries_started = SteadySeconds();
    progress("libraries", request.name);
    HoldAgainstLibraries(libraries, task, job, progress, &evaluation);
    evaluation.stages.push_back({"libraries", SteadySeconds() - libraries_started, true});
  }
  // Where the worker stays for the vast shape, the device stays held too: an idle context of another process counts as
  // one that disturbs the times of the next candidate.
  if (!watched || evaluation.verdict != Verdict::kOk) held.reset();
  // A candidate that the GPU accepted is also judged on the simulated GPU, while the GPU judges the next candidate.
  if (!facts().modelled && request.check_cases && evaluation.verdict == Verdict::kOk) {
    const std::string why_alone = WhyAlone(request, job.candidate.candidate);
    job = ChecksOf(std::move(job));
    // The simulated GPU also looks for indices that overflow. A candidate that it did not run is launched once at a
    // vast shape on the GPU.
    const auto judge_vast = [&] {
      progress("vast", request.name);
      JudgeJob vast = job;
      vast.vast_alone = true;
      return backend_->Judge(vast, progress);
    };
    if (watched) {
      progress("sanitize", request.name);
      // If the tool is still at work: neither is timed, so the vast shape is judged meanwhile.
      if (!watching) watching.emplace(*backend_, job);
      const Result<Evaluation> vast = judge_vast();
      const Result<Evaluation>& sanitized = watching->Wait();
      held.reset();
      evaluation = JoinSanitized(std::move(evaluation), sanitized, why_alone);
      evaluation.metrics["sanitize_seconds.waited"] = watching->waited_seconds();
      if (evaluation.verdict == Verdict::kOk) {
        if (!vast.ok()) return vast.status();
        evaluation = JoinVast(std::move(evaluation), *vast);
      }
    } else if (why_alone.empty()) {
      progress("simulate", request.name);
      evaluation = JoinVerdicts(std::move(evaluation), Simulate(task, request));
    } else {
      evaluation = WithoutSimulation(std::move(evaluation), why_alone);
    }
    if (!watched && asked_for_both && !UsesHostMode(job) && NotSimulated(evaluation) && evaluation.verdict == Verdict::kOk) {
      device_places_.acquire();
      held.reset(&device_places_);
      HONE_ASSIGN_OR_RETURN(const Evaluation vast, judge_vast());
      held.reset();
      evaluation = JoinVast(std::move(evaluation), vast);
    }
  }
  double pch_misses = 0, cached = 0;
  if (!job.candidate.candidate.plan.machine_code.empty()) evaluation.labels.push_back(job.candidate.candidate.plan.machine_code);
  for (const auto& [key, module] : job.candidate.modules) {
    pch_misses += !module.from_cache && !module.pch_used && job.candidate.candidate.plan.machine_code.empty();
    cached += module.from_cache;
    for (const std::string& label : module.labels) evaluation.labels.push_back(label);
    evaluation.log += module.log;
  }
  if (LineOfCall(job.candidate.candidate.plan) > 0) evaluation.labels.push_back("library_calls");
  // A float32 task that passed on the tensor cores got its precision by emulation (three TF32 products, say).
  const bool all_float32 = std::all_of(task.tensors.begin(), task.tensors.end(), [](const TensorSpec& tensor) {
    return tensor.role == TensorRole::kIn || tensor.dtype == DType::kFloat32;
  });
  const bool on_tensor_cores = std::any_of(evaluation.labels.begin(), evaluation.labels.end(),
                                           [](const std::string& label) { return label.rfind("tensor_", 0) == 0; });
  if (all_float32 && on_tensor_cores) evaluation.labels.push_back("emulated_fp32");
  evaluation.metrics["pch_misses"] = pch_misses;
  evaluation.metrics["modules_from_cache"] = cached;
  return finish(std::move(evaluation));
}

}  // namespace

std::unique_ptr<Evaluator> MakeLocalEvaluator(std::unique_ptr<Backend> backend, BackendFactory simulated,
                                              const EvaluatorOptions& options) {
  return std::unique_ptr<Evaluator>(new LocalEvaluator(std::move(backend), std::move(simulated), options));
}

Result<std::unique_ptr<Evaluator>> MakeEvaluator(const EvaluatorOptions& given_options) {
  EvaluatorOptions options = given_options;
  // Child processes start in folders of their own, so the executable's path must be absolute.
  std::error_code error;
  if (const auto absolute = std::filesystem::absolute(given_options.executable, error);
      !error && !given_options.executable.empty()) {
    options.executable = absolute.string();
  }
  const std::string& device = options.device;
  if (!(options.launch_limit_seconds > 0 && options.launch_limit_seconds <= kLongestLaunch)) {
    return Status::InvalidArgument(fmt::format("--launch-limit {}: write seconds, more than 0 and at most {}",
                                               options.launch_limit_seconds, kLongestLaunch));
  }
  if (options.compile_jobs < 0) return Status::InvalidArgument(fmt::format("--jobs {}: write 0 (one per core) or more", options.compile_jobs));
  const auto local = [&](Result<std::unique_ptr<Backend>> backend) -> Result<std::unique_ptr<Evaluator>> {
    if (!backend.ok()) return backend.status();
    return MakeLocalEvaluator(std::move(*backend), [options] { return MakeSimBackend(options, "h200"); }, options);
  };
  if (device.rfind("spool:", 0) == 0) return MakeSpoolEvaluator(device.substr(6));
  if (IsRedisAddress(device)) return MakeQueueEvaluator(device, options.waiting);
  if (device == "sim") return local(MakeSimBackend(options, "h200"));
  if (device.rfind("sim:", 0) == 0) return local(MakeSimBackend(options, device.substr(4)));
  if (device == "cuda" || device.rfind("cuda:", 0) == 0) {
    const std::string number = device == "cuda" ? "0" : device.substr(5);
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos || number.size() > 3) {
      return Status::InvalidArgument(fmt::format("--device {}: write cuda:N with N from `hone devices`", device));
    }
    return local(MakeCudaBackend(options, std::stoi(number)));
  }
  if (device == "auto") {
    Result<std::unique_ptr<Backend>> cuda = MakeCudaBackend(options, 0);
    if (cuda.ok()) return local(std::move(cuda));
    return local(MakeSimBackend(options, "h200"));
  }
  return Status::InvalidArgument(fmt::format("--device {}: use auto, cuda:N, sim, sim:NAME, spool:DIR or redis://HOST/QUEUE", device));
}

}  // namespace hone
