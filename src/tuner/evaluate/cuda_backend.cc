// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging on a GPU: NVRTC in zygotes, one worker process that owns the context.
#include <fmt/format.h>

#include <thread>

#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/backend.h"
#include "tuner/evaluate/compile/compile_cache.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/worker/worker_client.h"

namespace hone {
namespace {

class CudaBackend : public Backend {
 public:
  CudaBackend(std::unique_ptr<WorkerClient> worker, DeviceFacts facts, std::unique_ptr<Compiler> compiler)
      : worker_(std::move(worker)), facts_(std::move(facts)), compiler_(std::move(compiler)) {}
  const DeviceFacts& facts() const override { return facts_; }
  Compiler& compiler() override { return *compiler_; }
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress) override {
    return worker_->Judge(job, progress);
  }

 private:
  std::unique_ptr<WorkerClient> worker_;
  DeviceFacts facts_;
  std::unique_ptr<Compiler> compiler_;
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
  if (!options.cutlass_home.empty()) nvrtc.cutlass_include = options.cutlass_home + "/include";
  nvrtc.architecture = NvrtcArchitecture(listed.cc_major, listed.cc_minor);
  nvrtc.limit_seconds = options.compile_limit_seconds;
  nvrtc.zygote_argv = {options.executable, "__nvrtc-zygote"};
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<NvrtcCompiler> compiler, MakeNvrtcCompiler(nvrtc));
  // The context and the precompiled header both take a while to make: at the same time, then.
  Status warmed;
  std::thread warming([&] { warmed = compiler->Prewarm(""); });
  WorkerOptions worker_options;
  worker_options.argv = {options.executable, "__worker", "--device", fmt::format("cuda:{}", ordinal), "--fd", "3"};
  worker_options.environment = options.environment;
  auto worker = std::make_unique<WorkerClient>(std::move(worker_options));
  Result<DeviceFacts> facts = worker->Facts();
  warming.join();
  if (!facts.ok()) return facts.status();
  HONE_RETURN_IF_ERROR(warmed);

  std::unique_ptr<Compiler> cached = std::move(compiler);
  if (options.use_cache && !options.cache_directory.empty()) {
    HONE_ASSIGN_OR_RETURN(cached, MakeCachedCompiler(std::move(cached), {.directory = options.cache_directory + "/modules"}));
  }
  return std::unique_ptr<Backend>(new CudaBackend(std::move(worker), std::move(*facts), std::move(cached)));
}

}  // namespace hone
