// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the loop around a strategy: asks for the next action, records it, executes it, records the result.
//
// Every event is durable before it takes effect. A run killed at any instant continues where its log ends: a durable
// reply is never requested again, a durable evaluation is never repeated, and requests in flight are sent again under
// their old number and marked as such.
//
// Requests, evaluations and sweeps of several attempts overlap, each on its own thread; the log, the fold and every
// decision belong to one thread. Decisions use only what their number allows them to know (KnownFor), so the tree does
// not depend on which attempt ends first.
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

// Observes a run. Called on the loop's thread (OnActivity: on any), between durable steps; must not throw.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnEvent(const Event& event, const RunView& view) = 0;  // `view` includes the event
  // Reports the current activity: "asking builtin", "timing 1024x4096".
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
  std::stop_token stop;             // Ctrl-C: the current step is abandoned, the run ends as "interrupted"
  int parallel_evaluations = 2;     // per sweep
  // Does not wait for answers that people give in their own time: a request unanswered after `suspend_seconds` stays
  // posted, and once nothing else can be done the run ends as "suspended" (kPending).
  bool suspend = false;
  double suspend_seconds = 1;
  const PromptLibrary* prompts = nullptr;  // null: the prompts with which the run began
};

// Continues a new or an interrupted run to its end: the view's `ended` says why. A Status means that the environment
// failed (store, device), or kPending that answers or evaluations are awaited; the run can be continued later.
Result<RunView> ContinueRun(const RunDependencies& dependencies, const std::string& run);

}  // namespace hone
