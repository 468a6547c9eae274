// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This backend judges on a GPU. NVRTC compiles in zygotes, and one worker process owns the GPU's context. Host-mode
// candidates are compiled by nvcc. They and machine code of other compilers are judged in a new confined worker for
// each job.
#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/files/file.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/backend.h"
#include "tuner/evaluate/compile/compile_cache.h"
#include "tuner/evaluate/compile/cutlass_headers.h"
#include "tuner/evaluate/compile/machine_code_compiler.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/host_mode/host_library.h"
#include "tuner/evaluate/host_mode/host_mode_compiler.h"
#include "tuner/evaluate/profiling/profile_process.h"
#include "tuner/evaluate/sanitizing/sanitizer_process.h"
#include "tuner/evaluate/worker/worker_client.h"

namespace hone {
namespace {

// Limit of a whole job in a confined worker. It holds however often the worker reports progress, because the reports
// could come from the candidate.
constexpr double kConfinedJobSeconds = 600;

// Returns the value of variable `name` in texts of the form "NAME=value"; empty when it is not set.
std::string ValueOf(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment) {
    if (entry.rfind(name + "=", 0) == 0) return entry.substr(name.size() + 1);
  }
  return "";
}

Result<std::unique_ptr<Compiler>> WithCache(std::unique_ptr<Compiler> compiler, const EvaluatorOptions& options) {
  if (!options.use_cache || options.cache_directory.empty()) return compiler;
  HONE_ASSIGN_OR_RETURN(compiler, MakeCachedCompiler(std::move(compiler), {.directory = options.cache_directory + "/modules"}));
  return compiler;
}

// Returns "NVRTC 12.8" from the compiler's fingerprint, which begins with "nvrtc 12.8 ".
std::string ToolkitOf(const Compiler& compiler) {
  const std::string fingerprint = compiler.Fingerprint();
  const size_t first = fingerprint.find(' '), second = fingerprint.find(' ', first + 1);
  return first == std::string::npos ? "NVRTC" : "NVRTC" + fingerprint.substr(first, second - first);
}

class CudaBackend : public Backend {
 public:
  CudaBackend(const EvaluatorOptions& options, std::string device, std::unique_ptr<WorkerClient> worker, DeviceFacts facts,
              std::unique_ptr<Compiler> compiler)
      : options_(options), device_(std::move(device)), worker_(std::move(worker)), facts_(std::move(facts)),
        compiler_(std::move(compiler)) {}
  const DeviceFacts& facts() const override { return facts_; }
  Compiler& compiler() override { return *compiler_; }
  Status CanInclude(std::string_view include_set) const override {
    return include_set == "cute" ? FindCutlassHeaders(options_.cutlass_home).status() : Status::Ok();
  }
  JudgeTools tools() const override {
    const Result<CutlassHeaders> cutlass = FindCutlassHeaders(options_.cutlass_home);
    JudgeTools tools{.stated = true, .toolkit = ToolkitOf(*compiler_), .cutlass = "", .no_cutlass = ""};
    if (cutlass.ok()) {
      tools.cutlass = fmt::format("{}.{}.{}", cutlass->major, cutlass->minor, cutlass->patch);
    } else {
      tools.no_cutlass = cutlass.status().message();
    }
    return tools;
  }
  Result<Compiler*> host_compiler() override {
    std::lock_guard lock(host_mutex_);
    if (host_compiler_ == nullptr) {
      const std::string path = ValueOf(options_.environment, "PATH");
      HONE_ASSIGN_OR_RETURN(HostModeCompilerOptions nvcc,
                            NvccHostMode(options_.cuda_home, NvrtcArchitecture(facts_.cc_major, facts_.cc_minor),
                                         path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path));
      HONE_ASSIGN_OR_RETURN(host_compiler_, WithCache(MakeHostModeCompiler(std::move(nvcc)), options_));
    }
    return host_compiler_.get();
  }
  Result<Compiler*> machine_code_compiler() override {
    std::lock_guard lock(host_mutex_);
    if (machine_code_compiler_ == nullptr) {
      machine_code_compiler_ = MakeMachineCodeCompiler({.cc_major = facts_.cc_major,
                                                        .cc_minor = facts_.cc_minor,
                                                        .device_name = facts_.name,
                                                        .cuda_home = options_.cuda_home,
                                                        .search_path = ValueOf(options_.environment, "PATH"),
                                                        .scratch_directory = "",
                                                        .limit_seconds = options_.compile_limit_seconds});
    }
    return machine_code_compiler_.get();
  }
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress) override {
    if (!UsesHostMode(job)) {
      HONE_ASSIGN_OR_RETURN(Evaluation evaluation, UsesMachineCode(job) ? JudgeBeside(WorkerForMachineCode(job), job, progress)
                                                                        : JudgeAndName(*worker_, job, progress));
      if (WantsProfile(job, evaluation)) {
        if (progress) progress("profile", job.options.name);
        HONE_ASSIGN_OR_RETURN(evaluation.profile, Profile(job));
      }
      return evaluation;
    }
    if (host_worker_ == nullptr) host_worker_ = std::make_unique<WorkerClient>(ConfinedOptions({"--host-mode"}));
    return JudgeBeside(*host_worker_, job, progress);
  }
  Result<Evaluation> Sanitize(const JudgeJob& job, std::stop_token stop) override {
    SanitizerOptions sanitizer;
    sanitizer.argv = {options_.executable, "__sanitize", "--device", device_};
    sanitizer.environment = options_.environment;
    sanitizer.directories = ToolkitFolders();
    sanitizer.stop = std::move(stop);
    if (options_.use_cache) sanitizer.cache_directory = options_.cache_directory;
    if (!options_.cuda_home.empty()) sanitizer.argv.insert(sanitizer.argv.end(), {"--cuda-home", options_.cuda_home});
    return SanitizeInProcess(job, sanitizer);
  }

 private:
  // Returns the folders in which programs of the CUDA toolkit are looked for.
  std::vector<std::string> ToolkitFolders() const {
    std::vector<std::string> folders = SplitSearchPath(ValueOf(options_.environment, "PATH"));
    for (const std::string& root : {options_.cuda_home, std::string("/usr/local/cuda")}) {
      if (!root.empty()) folders.insert(folders.end(), {root + "/bin", root + "/compute-sanitizer"});
    }
    return folders;
  }
  // Returns options for a worker that judges one job. It is confined except for the GPU, because it loads code that
  // Hone did not compile.
  WorkerOptions ConfinedOptions(const std::vector<std::string>& flags) const {
    WorkerOptions confined;
    confined.argv = {options_.executable, "__worker", "--device", device_, "--fd", "3"};
    confined.argv.insert(confined.argv.end(), flags.begin(), flags.end());
    confined.environment = options_.environment;
    confined.sandbox = HostModeWorkerPolicy(options_.executable, options_.cuda_home, "");
    // The worker may read the folders that the loader searches (a cuBLASLt from a Python package, say).
    for (const std::string& folder : SplitSearchPath(ValueOf(options_.environment, "LD_LIBRARY_PATH"))) {
      if (folder.starts_with("/") && folder != "/") confined.sandbox->read_paths.push_back(folder);
    }
    confined.job_limit_seconds = kConfinedJobSeconds;
    confined.one_job = true;
    return confined;
  }
  // Returns the worker for a job with machine code of another compiler, which the driver's loader has to read: a worker
  // of its own, so that a crash loses nothing. It is confined unless the task has a PyTorch module, because a confined
  // worker may not start the module's Python process.
  WorkerClient& WorkerForMachineCode(const JudgeJob& job) {
    std::unique_ptr<WorkerClient>& worker = HasTorchModule(job.task) ? machine_code_worker_beside_python_ : machine_code_worker_;
    if (worker == nullptr) {
      WorkerOptions worker_options = ConfinedOptions({});
      if (HasTorchModule(job.task)) {
        worker_options.sandbox.reset();
        worker_options.job_limit_seconds = 0;
      }
      worker = std::make_unique<WorkerClient>(std::move(worker_options));
    }
    return *worker;
  }
  // Judges a job in a worker of its own, beside the one for other candidates, whose context is idle meanwhile.
  Result<Evaluation> JudgeBeside(WorkerClient& worker, const JudgeJob& job, const EvaluationProgress& progress) {
    JudgeJob beside = job;
    beside.processes_beside = worker_->pid() < 0 ? 0 : 1;
    return JudgeAndName(worker, beside, progress);
  }
  // Judges a job. If a bad memory access ends it, judges it again to find out what the access was (NameFault).
  Result<Evaluation> JudgeAndName(WorkerClient& worker, const JudgeJob& job, const EvaluationProgress& progress) {
    HONE_ASSIGN_OR_RETURN(Evaluation evaluation, worker.Judge(job, progress));
    if (!EndedByAccess(evaluation)) return evaluation;
    return NameFault(std::move(evaluation), [&](FaultSearch search) {
      JudgeJob second_job = job;
      second_job.fault_search = search;
      return worker.Judge(second_job, progress);
    });
  }
  Result<hone::Profile> Profile(const JudgeJob& job) {
    ProfileProcessOptions process;
    process.argv = {options_.executable, "__profile", "--device", device_};
    process.environment = options_.environment;
    process.ncu_directories = ToolkitFolders();
    return ProfileInProcess(job, process);
  }

  EvaluatorOptions options_;
  std::string device_;
  std::unique_ptr<WorkerClient> worker_, host_worker_, machine_code_worker_, machine_code_worker_beside_python_;
  DeviceFacts facts_;
  std::unique_ptr<Compiler> compiler_;
  std::mutex host_mutex_;
  std::unique_ptr<Compiler> host_compiler_, machine_code_compiler_;
};

}  // namespace

Result<std::unique_ptr<Backend>> MakeCudaBackend(const EvaluatorOptions& options, int ordinal) {
  HONE_ASSIGN_OR_RETURN(std::vector<DeviceFacts> devices, ListCudaDevices());
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices.size()) {
    return Status::InvalidArgument(fmt::format("there is no cuda:{}; this machine has {} (see `hone devices`)", ordinal, devices.size()));
  }
  const DeviceFacts& listed = devices[static_cast<size_t>(ordinal)];

  NvrtcCompilerOptions nvrtc;
  nvrtc.cuda_home = options.cuda_home;
  nvrtc.cutlass_include = options.cutlass_home;
  nvrtc.architecture = NvrtcArchitecture(listed.cc_major, listed.cc_minor);
  nvrtc.limit_seconds = options.compile_limit_seconds;
  nvrtc.zygote_argv = {options.executable, "__nvrtc-zygote"};
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<NvrtcCompiler> compiler, MakeNvrtcCompiler(nvrtc));
  // The worker's context and the compiler's precompiled header take seconds, so they are made at the same time.
  Status warmed;
  std::thread warming([&] { warmed = compiler->Prewarm(""); });
  WorkerOptions worker_options;
  const std::string device = fmt::format("cuda:{}", ordinal);
  worker_options.argv = {options.executable, "__worker", "--device", device, "--fd", "3"};
  worker_options.environment = options.environment;
  auto worker = std::make_unique<WorkerClient>(std::move(worker_options));
  Result<DeviceFacts> facts = worker->Facts();
  warming.join();
  if (!facts.ok()) return facts.status();
  HONE_RETURN_IF_ERROR(warmed);

  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> cached, WithCache(std::move(compiler), options));
  return std::unique_ptr<Backend>(
      new CudaBackend(options, device, std::move(worker), std::move(*facts), std::move(cached)));
}

}  // namespace hone
