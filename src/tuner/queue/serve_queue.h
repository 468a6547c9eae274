// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a queue's worker: claims, judges and answers jobs, until it is stopped or no job comes.
//
// Only a judgement is an answer. If the environment failed, the job goes back to the queue, and a worker whose machine
// fails job after job ends, so that it does not take all of them.
#pragma once

#include <functional>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/serve_spool.h"
#include "tuner/queue/job_queue.h"

namespace hone {

struct ServeQueueOptions {
  ServeOptions judging;           // threads, tries, profiles, stop, and on_bundle with a job's id
  std::string worker;             // unique name of this process among the queue's workers
  double until_idle_seconds = 0;  // end after this time without a job; 0: never
  double lease_seconds = kLeaseSeconds;
  double stalled_seconds = 600;  // a judgement without progress for so long is abandoned: its lease is not renewed
  // Simulate small cases and pass on what is not refused (sieve.h), as long as fewer than `ahead` jobs wait for judges:
  // a sieve that runs far ahead works on jobs that may be withdrawn.
  bool sieve = false;
  int64_t ahead = 64;
  int most_failures = 3;         // of the environment, on consecutive jobs
  std::function<void()> on_begun;  // connected, and accepted by the queue; called once; may be empty
  // Why nothing can be claimed or delivered at the moment, in words; called from any of the worker's threads, at most
  // once for the same words. May be empty.
  std::function<void(const std::string&)> on_trouble;
};

// Returns when stopped, or idle for long enough. kUnavailable: the server is gone, or this machine fails;
// kInvalidArgument: the queue belongs to another kind of device.
Result<Served> ServeQueue(Evaluator& evaluator, const RedisAddress& address, const ServeQueueOptions& options);

}  // namespace hone
