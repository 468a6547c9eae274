// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// SpoolServer takes one look at a spool: it claims, judges and answers the bundles that wait there.
//
// Only a judgement is an answer. Where the environment failed (a device that was lost, a process that could not be
// made, a full disk), the bundle is tried again, and then goes back to `pending` with the reason beside it: no kernel
// is held responsible for this machine.
#pragma once

#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/spool.h"

namespace hone {

struct ServeOptions {
  int threads = 1;            // bundles at a time; their compiles overlap
  int tries = 3;              // attempts for one bundle in one look, the first one included
  double pause_seconds = 0.5; // before the second try, twice as long before each further one
  int max_looks = 3;          // looks in which a bundle may fail before it is left to other workers
  // The profiles that are taken, of those that bundles ask for: all, those of versions that gained
  // (EvaluationRequest::profile_gains), or none. A profile takes about as long as the judgement.
  enum class Profiles { kAll, kGains, kNone } profiles = Profiles::kAll;
  std::stop_token stop;  // once requested, nothing more is begun
  // Reports the outcome of a bundle. Called one at a time, from any thread.
  std::function<void(const std::string& id, const Result<Evaluation>& evaluation)> on_bundle;
};

struct Served {
  int judged = 0;      // answered with an evaluation
  int unreadable = 0;  // answered with an error: a bundle of another protocol, or a damaged one
  int put_back = 0;    // not answered: the environment failed
};

// Says kUnavailable if this process was told to end and the verdict is one that a signal to its children could cause
// too: a batch system signals all processes of a job. Waits a moment for the signal with such a verdict. A worker calls it
// before it answers, so that no compile error is reported that was a preemption.
Status CheckNotSignalled(const Evaluation& evaluation, const std::stop_token& stop);

// Judges one bundle, again where the environment fails (`tries`, `pause_seconds`), with the profiles that the options
// allow. A lost device is a failure of the environment, and so is what CheckNotSignalled says: kUnavailable.
Result<Evaluation> JudgeBundle(Evaluator& evaluator, const SpoolBundle& bundle, const ServeOptions& options,
                               const EvaluationProgress& progress = {});

class SpoolServer {
 public:
  SpoolServer(Evaluator& evaluator, Spool& spool, ServeOptions options)
      : evaluator_(evaluator), spool_(spool), options_(std::move(options)) {}

  // Claims the pending bundles and returns when each is answered or put back. When stopped, it puts back the bundles
  // that it has not started. A Status means that the spool itself cannot be read or written.
  Result<Served> Look();

 private:
  Evaluator& evaluator_;
  Spool& spool_;
  ServeOptions options_;
  std::map<std::string, int> failed_looks_;  // by bundle
};

}  // namespace hone
