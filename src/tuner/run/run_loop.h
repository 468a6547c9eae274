// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the loop around a strategy, which asks the strategy for the next action, records the action, executes it and
// records the result.
//
// Every event is stored durably before it takes effect. A run killed at any instant continues where its log ends: a
// stored reply is never requested again, a stored evaluation is never repeated, and requests that were in flight are
// sent again under their old numbers, with a count of attempts.
//
// Requests, evaluations and sweeps of several attempts overlap, each on its own thread; one thread writes the log,
// updates the run's view and makes decisions. The decision that opens a node uses only the nodes below KnownFor(), so
// that the tree does not depend on which attempt ends first.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "hone/tuner/evaluator.h"
#include "hone/tuner/model_provider.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "tuner/agents/prompt_library.h"

namespace hone {

// Observes a run. OnEvent is called on the loop's thread, OnActivity on any thread. Neither may throw.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnEvent(const Event& event, const RunView& view) = 0;  // `view` includes the event
  // Reports the current activity: "asking builtin", "timing 1024x4096".
  virtual void OnActivity(const std::string& what) = 0;
};

// Counts what is missing for a run that could not go on (kPending).
struct RunWaits {
  size_t answers = 0;      // of models, to requests that are posted
  size_t evaluations = 0;  // in a spool
  std::string evaluator;   // the evaluator's message about one of them, with the command that judges it
};

// The objects that a run uses. All pointers are borrowed.
struct RunDependencies {
  const Task* task = nullptr;
  Evaluator* evaluator = nullptr;
  RunStore* store = nullptr;
  ModelProvider* provider = nullptr;
  const Strategy* strategy = nullptr;
  RunObserver* observer = nullptr;  // may be null
  std::function<double()> now;      // seconds since 1970
  std::stop_token stop;          // requested by Ctrl-C: work in flight is abandoned, and the run ends as "interrupted"
  int parallel_evaluations = 2;  // bindings that one sweep evaluates at the same time
  // true: do not wait for answers that people give when they have time. A request whose answer is not
  // there yet stays posted, and when nothing else can be done, the run ends as "suspended" (kPending).
  bool suspend = false;
  RunWaits* waits = nullptr;               // filled when ContinueRun returns kPending; may be null
  const PromptLibrary* prompts = nullptr;  // null: the prompts with which the run began
};

// Continues a new or an interrupted run until it ends; the view's `ended` says why. Errors: kPending when answers or
// evaluations are awaited; otherwise the environment failed (store, device). The run can be continued later.
Result<RunView> ContinueRun(const RunDependencies& dependencies, const std::string& run);

}  // namespace hone
