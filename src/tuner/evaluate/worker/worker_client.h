// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The evaluator's side of a worker process: starts it, hands it jobs, listens with a watchdog, and starts
// another when a candidate has taken it down. A hang costs the candidate its own time limit, a crash nothing
// but a new context; neither ever costs a stored result or the next candidate its verdict.
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
  double grace_seconds = 2;              // beyond a phase's own limit, before the worker is killed
};

// Not thread-safe: the evaluator holds the device for one evaluation at a time.
class WorkerClient {
 public:
  explicit WorkerClient(WorkerOptions options) : options_(std::move(options)) {}
  ~WorkerClient();

  // Starts the worker if it is not running, and asks for its device's facts.
  Result<DeviceFacts> Facts();
  // Judges one job. A worker that hangs or dies in a phase where candidate code runs gives timed_out or
  // crashed; elsewhere a Status.
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress);
  // Starts a worker in the background of the next call's preparation, so that its start-up overlaps compiles.
  Status Start();
  void Stop();
  int starts() const { return starts_; }

 private:
  Result<Frame> Receive(double timeout_seconds);

  WorkerOptions options_;
  std::optional<ChildProcess> child_;
  UniqueFd socket_;
  int starts_ = 0;
};

}  // namespace hone
