// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A backend is where an evaluator's jobs are judged (a worker process with a GPU, or a simulated device), together with
// the compiler that builds programs for it.
#pragma once

#include <memory>
#include <stop_token>

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
  // Returns Ok if candidates of this backend may use the include set; otherwise the reason. Evaluator::CanInclude
  // returns the same.
  virtual Status CanInclude(std::string_view include_set) const {
    (void)include_set;
    return Status::Ok();
  }
  // Returns the tools of this machine; Evaluator::Tools returns the same.
  virtual JudgeTools tools() const { return {}; }
  // Returns the compiler for host-mode candidates. It is thread-safe and owned by the backend. Returns kUnavailable,
  // with the reason, where host-mode candidates are not judged.
  virtual Result<Compiler*> host_compiler() = 0;
  // Returns the compiler for candidates of machine code; thread-safe and owned by the backend. The default, which the
  // simulated GPU's backend keeps, is the error that machine code cannot be judged here.
  virtual Result<Compiler*> machine_code_compiler() {
    return Status::Unavailable("machine code runs on the GPU that it was compiled for, and the simulated GPU runs source alone; judge "
                               "it with --device cuda:N");
  }
  // Returns how many jobs may be judged at the same time. A GPU judges one, because jobs would disturb each other's
  // times.
  virtual int judges_at_once() const { return 1; }
  // Judges one job. Up to judges_at_once() threads may call this at the same time, and the evaluator lets in no more. A
  // job that contains a host-mode program runs confined, in a worker process of its own.
  virtual Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress) = 0;
  // Runs the small cases of a job's candidate under a tool that watches its use of memory (SanitizeInProcess). The
  // caller holds the device as for Judge, and may call Judge meanwhile; a job that times waits until this has ended
  // (JudgeJob::before_timing). `stop` ends it early. kUnavailable, with the reason, where that cannot be done.
  virtual Result<Evaluation> Sanitize(const JudgeJob& job, std::stop_token stop) {
    (void)job;
    (void)stop;
    return Status::Unavailable("this device has no tool that watches memory");
  }
};

Result<std::unique_ptr<Backend>> MakeSimBackend(const EvaluatorOptions& options, const std::string& gpu);
// Returns kUnavailable where this build has no CUDA device.
Result<std::unique_ptr<Backend>> MakeCudaBackend(const EvaluatorOptions& options, int ordinal);

}  // namespace hone
