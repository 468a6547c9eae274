// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The loop around a strategy: asks it what to open, writes that down, does it, writes down what came of it.
//
// Every event is durable before it is acted on. A run killed at any instant continues where its log ends: a durable
// reply is never asked for again, a durable evaluation is never repeated, and what was in flight is asked again under
// its old number and shown as such.
//
// Requests, evaluations and sweeps of several attempts overlap, each in a thread of its own; the log, the fold and
// every decision belong to one thread. Decisions rest on what their number allows them to know (KnownFor), so the tree
// does not depend on which attempt ends first.
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
  // Do not wait for answers that somebody gives in his own time: a request that is not answered within
  // `suspend_seconds` stays posted, and once nothing else can be done the run ends as "suspended" (kPending).
  bool suspend = false;
  double suspend_seconds = 1;
  const PromptLibrary* prompts = nullptr;  // null: what the run was begun with
};

// Runs to the end: the view's `ended` says why. Works on a new run and on one that was interrupted.
// A Status means that the environment failed (store, device), or kPending that answers or evaluations are waited
// for; the run can be continued later.
Result<RunView> ContinueRun(const RunDependencies& dependencies, const std::string& run);

}  // namespace hone
