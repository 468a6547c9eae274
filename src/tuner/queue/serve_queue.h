// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a queue's worker: claims, judges and answers jobs, until it is stopped or no job comes.
//
// Only a judgement is an answer. If the environment fails, the job goes back to the queue. A worker whose machine fails
// with several jobs in a row ends, so that it does not take all jobs.
#pragma once

#include <functional>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/serve_spool.h"
#include "tuner/queue/job_queue.h"

namespace hone {

struct ServeQueueOptions {
  ServeOptions judging;           // threads, tries, profiles and stop; on_bundle is called with the job's ID
  std::string worker;             // unique name of this process among the queue's workers
  double until_idle_seconds = 0;  // end after this time without a job; 0: never
  double lease_seconds = kLeaseSeconds;
  double stalled_seconds = 600;  // the lease of a judgement without progress for this long is no longer renewed
  // true: the worker is a sieve (sieve.h): it simulates small cases and passes jobs on that are not refused. It rests
  // while `ahead` sieved jobs wait for judges, because a sieve that runs far ahead works on jobs that may be withdrawn.
  bool sieve = false;
  int64_t ahead = 64;
  int most_failures = 3;           // failures of the environment, with jobs in a row, after which the worker ends
  std::function<void()> on_begun;  // called once, when the queue has accepted the worker; may be empty
  // Called with the reason, in words, why no job can be claimed or no answer delivered at the moment; from any of the
  // worker's threads, at most once for the same words. May be empty.
  std::function<void(const std::string&)> on_trouble;
};

// Serves the queue until it is stopped or has been idle for long enough. Returns kUnavailable if the server is gone or
// this machine fails, and kInvalidArgument if the queue belongs to another kind of device.
Result<Served> ServeQueue(Evaluator& evaluator, const RedisAddress& address, const ServeQueueOptions& options);

}  // namespace hone
