// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// SpoolServer serves a spool: at each look it claims, judges and answers the bundles that wait there.
//
// Only a judgement is an answer. If the environment fails (a device is lost, a process cannot be made, the disk is
// full), the bundle is tried again, and then goes back to `pending` with the reason in failed/: no kernel is held
// responsible for a machine's faults.
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
  int threads = 1;            // number of bundles in work at a time; their compiles overlap
  int tries = 3;              // attempts for one bundle in one look, the first one included
  double pause_seconds = 0.5;  // pause before the second try; twice as long before each further one
  int max_looks = 3;           // number of looks in which a bundle may fail before it is left to other workers
  // Which of the profiles that bundles ask for are taken: all, those of versions that gained
  // (EvaluationRequest::profile_gains), or none. A profile takes about as long as the judgement.
  enum class Profiles { kAll, kGains, kNone } profiles = Profiles::kAll;
  std::stop_token stop;  // once a stop is requested, no further bundle is begun
  // Receives the outcome of each bundle. Calls come from any thread, one at a time.
  std::function<void(const std::string& id, const Result<Evaluation>& evaluation)> on_bundle;
};

struct Served {
  int judged = 0;      // answered with an evaluation
  int unreadable = 0;  // answered with an error, because the bundle is damaged or has another protocol version
  int put_back = 0;    // put back unanswered, because the environment failed
};

// Returns kUnavailable if `stop` is requested and the verdict is one that a signal to a child process could have
// caused: a batch system that ends a job signals all its processes. With such a verdict, it first waits a moment for
// this process's own signal. A worker calls it before it answers, so that a preemption is not reported as a compile
// error.
Status CheckNotSignalled(const Evaluation& evaluation, const std::stop_token& stop);

// Judges one bundle, with the profiles that the options allow. If the environment fails, judges it again (`tries`,
// `pause_seconds`). A lost device and an error of CheckNotSignalled count as failures of the environment and are
// returned as kUnavailable.
Result<Evaluation> JudgeBundle(Evaluator& evaluator, const SpoolBundle& bundle, const ServeOptions& options,
                               const EvaluationProgress& progress = {});

class SpoolServer {
 public:
  SpoolServer(Evaluator& evaluator, Spool& spool, ServeOptions options)
      : evaluator_(evaluator), spool_(spool), options_(std::move(options)) {}

  // Judges the bundles that are pending now, each of which it claims when it begins with it, and returns when each is
  // answered, put back, or claimed by another worker. When stopped, it begins with no further bundle. A Status means
  // that the spool itself cannot be read or written.
  Result<Served> JudgeClaimable();

 private:
  Evaluator& evaluator_;
  Spool& spool_;
  ServeOptions options_;
  std::map<std::string, int> failed_looks_;  // keyed by bundle ID: number of looks in which the bundle failed
};

}  // namespace hone
