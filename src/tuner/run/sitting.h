// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs one sitting of a run: the work of one process on the run, from the end of its log until the run ends or nothing
// more can be done now. It asks the strategy for the next action, records the action, executes it on background threads
// and records the result.
//
// The scheduler is in sitting.cc; the three kinds of work are in sitting_requests.cc, sitting_evaluations.cc and
// sitting_sweeps.cc. Every member must be called on the thread that calls Run.
#pragma once

#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "tuner/agents/prompt_library.h"
#include "tuner/run/background_work.h"
#include "tuner/run/log/events.h"
#include "tuner/run/log/fold.h"
#include "tuner/run/run_loop.h"
#include "tuner/sweep/tune.h"

namespace hone {

class Sitting {
 public:
  // `dependencies` must outlive the sitting.
  Sitting(const RunDependencies& dependencies, RunInfo info);

  // Reads the log. If the run was already begun, records that it is resumed.
  Status Load();
  // Runs to the end of the run, or until nothing more can be done now.
  Status Run();
  const RunView& view() const { return fold_.view(); }

 private:
  // Starts what is due and asks for decisions, until the run ends or nothing more is in flight.
  Status Work();
  // Stores an event durably, then adds it to the view. `sources`: the texts whose hashes it has.
  Status Append(const RunEvent& what, std::vector<std::string> sources = {});
  // Records that the sitting, or the run, has ended.
  Status End(const std::string& reason);
  void ReportActivity(const std::string& what);  // to the observer, if there is one; on any thread
  Result<std::string> SourceOf(int64_t node);  // the node's text from the store
  std::string WaitingText() const;  // what a suspended run waits for; empty: nothing
  // Starts every request, evaluation and sweep that the view shows as due and that does not run yet.
  Status StartWhatIsDue();
  // Returns whether the tester's cases are vetted, or none were asked for. Only the seed is judged before.
  bool CasesAreFrozen() const;

  // These functions ask the strategy for decisions and record them.
  // Asks for one decision. Returns whether there was one.
  Result<bool> Decide();
  // Record an action that the strategy has decided on.
  Status Begin(const AttemptAction& a);
  Status Begin(const SweepAction& a);
  Status Begin(const CasesAction& a);
  Status Begin(const FinalAction& a);
  Status Begin(const FinishAction& a);

  // These functions send requests to models and use the replies.
  // Advances the conversation of node `id`: uses its reply, or sends its next request.
  Status Converse(int64_t id);
  Status ProposeBrokenStart(int64_t id);
  // Sends the request of a node's turn. `repair`: its second request, which quotes an unusable reply.
  Status SendRequest(int64_t id, int turn, bool repair);
  // Records a reply, or the failure of the request with this number.
  Status HandleReply(int64_t number, const Result<ModelReply>& reply);

  // These functions start evaluations and record their results.
  const Task& FrozenTask();  // the task with the accepted cases
  // Judges a request on another thread, and then calls `done` on the scheduler's thread. `key` names the work.
  void Judge(const std::string& key, EvaluationRequest request, const Task& task,
             std::function<Status(const Evaluation&)> done);
  // Makes the request to judge `node` against `incumbent` (-1: the seed). `is_final`: for the final evaluation.
  Result<EvaluationRequest> RequestFor(int64_t node, int64_t incumbent, bool is_final);
  Status StartEvaluation(int64_t id);
  Status StartProfile(int64_t id);
  Status VetCases();
  Status StartFinal(int64_t id);

  // These functions sweep tunables.
  void StartSweep(int64_t id);
  // Records how the sweep of node `id` ended. `swept`: the node whose tunables were swept, in `bindings` ways.
  Status HandleSweepResult(int64_t id, const std::string& key, int64_t swept, size_t bindings,
                           const Result<TuneResult>& result);

  const RunDependencies& d_;
  const std::string id_;  // id of the run
  RunFold fold_;
  PromptLibrary prompts_;
  Task frozen_;  // the task, with the tester's accepted cases once `extended_`
  bool extended_ = false;
  int64_t decided_with_ = 0;            // the last decision was based on the nodes below this number
  std::set<int64_t> waiting_requests_;  // numbers of the requests that are posted and not answered in this sitting
  std::set<std::string> pending_evaluations_;  // keys of the evaluations that wait in a spool
  int waiting_evaluations_ = 0;                // number of evaluations and sweeps that wait in a spool
  std::string waiting_text_;                   // the evaluator's message about the last that was found waiting
  std::stop_source cancel_;  // cancels requests in flight
  std::stop_callback<std::function<void()>> forward_stop_;
  BackgroundWork work_;
};

}  // namespace hone
