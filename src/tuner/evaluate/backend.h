// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where an evaluator's jobs are judged: a worker process with a GPU, or a simulated device. And the compiler
// that goes with it.
#pragma once

#include <memory>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/device/compiler.h"
#include "tuner/evaluate/worker/job.h"

namespace hone {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const DeviceFacts& facts() const = 0;
  virtual Compiler& compiler() = 0;  // thread-safe
  // Evaluator::CanInclude.
  virtual Status CanInclude(std::string_view include_set) const {
    (void)include_set;
    return Status::Ok();
  }
  // For host-mode candidates; thread-safe, owned by the backend. kUnavailable, with the reason, where they are not
  // judged.
  virtual Result<Compiler*> host_compiler() = 0;
  // For candidates of machine code; likewise. The answer here is a simulated GPU's.
  virtual Result<Compiler*> machine_code_compiler() {
    return Status::Unavailable("machine code runs on the GPU that it was compiled for, and the simulated GPU runs source alone; judge "
                               "it with --device cuda:N");
  }
  // How many jobs may be judged side by side. A GPU judges one, for jobs would disturb each other's times.
  virtual int judges_at_once() const { return 1; }
  // Thread-safe up to judges_at_once(); the evaluator lets no more in. A job with a host-mode program in it runs
  // confined, in a worker of its own.
  virtual Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress) = 0;
};

Result<std::unique_ptr<Backend>> MakeSimBackend(const EvaluatorOptions& options, const std::string& gpu);
// kUnavailable where this build has no CUDA device.
Result<std::unique_ptr<Backend>> MakeCudaBackend(const EvaluatorOptions& options, int ordinal);

}  // namespace hone
