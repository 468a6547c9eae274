// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The loop around a strategy: asks it what to do, writes that down, does it, writes down what came of it.
//
// Every event is durable before it is acted on. A run killed at any instant continues where its log ends: a durable
// reply is never asked for again, a durable evaluation is never repeated, and what was in flight is asked again under
// its old number and shown as such.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "hone/tuner/evaluator.h"
#include "hone/tuner/model_provider.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Watches a run. Called from the loop's thread (OnActivity: from any), between durable steps; must not throw.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnEvent(const Event& event, const RunView& view) = 0;  // the view after the event
  // What is being done right now: "asking builtin", "timing 1024x4096".
  virtual void OnActivity(const std::string& what) = 0;
};

struct RunDependencies {
  const Task* task = nullptr;
  Evaluator* evaluator = nullptr;
  RunStore* store = nullptr;
  ModelProvider* provider = nullptr;
  const Strategy* strategy = nullptr;
  RunObserver* observer = nullptr;  // may be null
  std::function<double()> now;      // seconds since 1970
  std::stop_token stop;             // Ctrl-C: the step under way is given up, the run ends as "interrupted"
  int parallel_evaluations = 2;     // in a sweep
};

// Creates the run and writes its first event; gives its id. `id` must be new (MakeRunId).
Result<std::string> StartRun(RunStore& store, const Task& task, const DeviceFacts& facts, const RunOptions& options,
                             const std::string& id, double now);

// Runs to the end: the view's `ended` says why. Works on a new run and on one that was interrupted.
// A Status means that the environment failed (store, device); the run can be continued later.
Result<RunView> ContinueRun(const RunDependencies& dependencies, const std::string& run);

// The task as it was when the run began, from the store: what a resumed run works on, whatever became of the files.
Result<Task> LoadRunTask(RunStore& store, const RunView& view);

}  // namespace hone
