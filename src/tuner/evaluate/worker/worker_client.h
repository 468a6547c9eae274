// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// WorkerClient is the evaluator's side of a worker process: it starts the worker, sends it jobs, reads its reports with
// a watchdog, and starts another worker when a candidate has crashed it. A hang costs the candidate's own time limit, a
// crash costs a new context. Neither loses a stored result or changes the next candidate's verdict.
//
// The client distrusts a worker's reports, because in a worker that runs host-mode candidates they may come from a
// candidate. A report that makes no sense ends the worker, and no report makes the client wait longer than its own
// limits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/frames.h"
#include "base/process/subprocess.h"
#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/worker/job.h"

namespace hone {

struct WorkerOptions {
  std::vector<std::string> argv;         // program and arguments; the socket is descriptor 3
  std::vector<std::string> environment;
  std::optional<SandboxPolicy> sandbox;
  double start_limit_seconds = 60;       // limit until the first answer, for driver start and context creation
  double grace_seconds = 2;              // added to a phase's limit before the worker is killed
  double longest_phase_seconds = 600;    // upper bound of the limits that the worker asks for
  double job_limit_seconds = 0;          // limit of a whole job, however many reports the worker sends; 0: none
  // true: a new worker for every job, so that no candidate's state outlives the job. JudgeJob::vast_follows joins two
  // jobs of one candidate.
  bool one_job = false;
};

// Not thread-safe: the evaluator holds the device for one evaluation at a time.
class WorkerClient {
 public:
  explicit WorkerClient(WorkerOptions options) : options_(std::move(options)) {}
  ~WorkerClient();

  // Starts the worker if it is not running, and asks for its device's facts.
  Result<DeviceFacts> Facts();
  // Judges one job. A worker that fails after the job has begun gives a verdict: timed_out if it hangs, crashed if it
  // dies, closes its socket or sends nonsense, device_lost if it was killed from outside. A failure before that is the
  // Status kUnavailable.
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress);
  // Starts a worker without waiting for it, so that its start-up overlaps the compiles before the next Judge.
  Status Start();
  void Stop();
  void Kill();
  int starts() const { return starts_; }
  // Returns the process ID of the running worker, or -1, for callers that want to end it.
  pid_t pid() const { return child_ ? child_->pid() : -1; }
  // Returns which means this Linux kernel uses to confine the worker; nullopt without a sandbox, or before a worker was
  // started.
  const std::optional<SandboxReport>& sandbox() const { return sandbox_report_; }

 private:
  Result<Frame> Receive(double timeout_seconds);
  // Sends the job and reads the worker's frames until the result. `begun` becomes true when the worker has sent one.
  Result<Evaluation> Converse(const JudgeJob& job, const std::string& bytes, const EvaluationProgress& progress, bool* begun);

  WorkerOptions options_;
  std::optional<ChildProcess> child_;
  UniqueFd socket_;
  int starts_ = 0;
  std::optional<SandboxReport> sandbox_report_;
};

}  // namespace hone
