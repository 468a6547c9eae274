// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// WorkerClient is the evaluator's side of a worker process: it starts the worker, sends it jobs, reads its reports with
// a watchdog, and starts another when a candidate has taken it down. A hang costs the candidate its own time limit, a
// crash nothing but a new context; neither ever costs a stored result or the next candidate its verdict.
//
// The client trusts a worker's reports no further than it must: in one that runs host-mode candidates they may come
// from a candidate. A report that makes no sense ends the worker, and none makes the client wait longer than its own
// limits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/frames.h"
#include "base/subprocess.h"
#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/worker/job.h"

namespace hone {

struct WorkerOptions {
  std::vector<std::string> argv;         // program and arguments; the socket is descriptor 3
  std::vector<std::string> environment;
  std::optional<SandboxPolicy> sandbox;
  double start_limit_seconds = 60;       // first answer: driver start and context creation
  double grace_seconds = 2;              // added to a phase's own limit, before the worker is killed
  double longest_phase_seconds = 600;    // upper bound of the limit that the worker asks for
  double job_limit_seconds = 0;          // limit of a whole job, however many reports the worker sends; 0: none
  bool one_job = false;                  // a new worker for every job: nothing of a candidate outlives its verdict
};

// Not thread-safe: the evaluator holds the device for one evaluation at a time.
class WorkerClient {
 public:
  explicit WorkerClient(WorkerOptions options) : options_(std::move(options)) {}
  ~WorkerClient();

  // Starts the worker if it is not running, and asks for its device's facts.
  Result<DeviceFacts> Facts();
  // Judges one job. Once the job has begun, a worker that hangs gives timed_out; one that dies, closes its socket or
  // sends nonsense gives crashed; and one that was killed from outside gives device_lost. Before that, the result is a
  // Status, kUnavailable.
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress);
  // Starts a worker in the background of the next call's preparation, so that its start-up overlaps compiles.
  Status Start();
  void Stop();
  void Kill();
  int starts() const { return starts_; }
  // Returns the process of the running worker, or -1, for callers that want to end it.
  pid_t pid() const { return child_ ? child_->pid() : -1; }
  // Reports with what this Linux kernel confines the worker, when a sandbox was asked for and a worker was started.
  const std::optional<SandboxReport>& sandbox() const { return sandbox_report_; }

 private:
  Result<Frame> Receive(double timeout_seconds);
  // `begun` becomes true when the worker has answered.
  Result<Evaluation> Converse(const JudgeJob& job, const std::string& bytes, const EvaluationProgress& progress, bool* begun);

  WorkerOptions options_;
  std::optional<ChildProcess> child_;
  UniqueFd socket_;
  int starts_ = 0;
  std::optional<SandboxReport> sandbox_report_;
};

}  // namespace hone
