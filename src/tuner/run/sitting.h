// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs one sitting of a run: from the end of the log to the end of the run, or until nothing more can be done now. Asks
// the strategy what to open, records it, does it on background threads, records the result.
//
// The scheduler itself is sitting.cc; sitting_requests.cc, sitting_evaluations.cc and sitting_sweeps.cc hold the three
// kinds of work. Every member must be called on the thread that calls Run.
#pragma once

#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "tuner/agents/prompt_library.h"
#include "tuner/run/background_work.h"
#include "tuner/run/events.h"
#include "tuner/run/fold.h"
#include "tuner/run/run_loop.h"
#include "tuner/sweep/tune.h"

namespace hone {

class Sitting {
 public:
  // `dependencies` must outlive the sitting.
  Sitting(const RunDependencies& dependencies, RunInfo info);

  // Reads the log, and records that the run is resumed.
  Status Load();
  // Runs to the end of the run, or until nothing more can be done now.
  Status Run();
  const RunView& view() const { return fold_.view(); }

 private:
  Status Work();
  // Makes an event durable, then adds it to the view. `sources`: the texts that it names.
  Status Append(const RunEvent& what, std::vector<std::string> sources = {});
  Status End(const std::string& reason);
  void Activity(const std::string& what);
  Result<std::string> SourceOf(int64_t node);
  std::string WaitingText() const;
  Status StartWhatIsDue();
  bool CasesAreFrozen() const;

  // These functions make the strategy's decisions.
  Result<bool> Decide();
  Status Begin(const AttemptAction& a);
  Status Begin(const SweepAction& a);
  Status Begin(const CasesAction& a);
  Status Begin(const FinalAction& a);
  Status Begin(const FinishAction& a);

  // These functions send requests to models and use the replies.
  Status Converse(int64_t id);
  Status ProposeBrokenStart(int64_t id);
  Status Ask(int64_t id, int turn, bool repair);
  Status Answered(int64_t number, const Result<ModelReply>& reply);

  // These functions have kernels judged.
  const Task& FrozenTask();
  void Judge(const std::string& key, EvaluationRequest request, const Task& task,
             std::function<Status(const Evaluation&)> done);
  Result<EvaluationRequest> RequestFor(int64_t node, int64_t incumbent, bool final);
  Status StartEvaluation(int64_t id);
  Status StartProfile(int64_t id);
  Status VetCases();
  Status StartFinal(int64_t id);

  // These functions sweep tunables.
  void StartSweep(int64_t id);
  Status Swept(int64_t id, const std::string& key, int64_t swept, size_t bindings, const Result<TuneResult>& result);

  const RunDependencies& d_;
  const std::string id_;
  RunFold fold_;
  PromptLibrary prompts_;
  Task frozen_;
  bool extended_ = false;
  int64_t decided_with_ = 0;                   // nodes that the last decision knew
  std::set<int64_t> waiting_requests_;         // posted, not answered in this sitting
  std::set<std::string> pending_evaluations_;  // spooled, not judged yet
  int waiting_evaluations_ = 0;
  std::string waiting_text_;
  std::stop_source cancel_;  // cancels requests in flight
  std::stop_callback<std::function<void()>> forward_stop_;
  BackgroundWork work_;
};

}  // namespace hone
