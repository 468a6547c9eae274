// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker of a queue: claims jobs, judges them, answers them, until it is stopped or nothing comes.
//
// Only a judgement is an answer. Where the environment failed, the job goes back to the queue, and a worker whose
// machine fails job after job ends, so that it does not take them all.
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
  std::string worker;             // a name of this process's own among the queue's workers
  double until_idle_seconds = 0;  // end after so long without a job; 0: never
  double lease_seconds = kLeaseSeconds;
  double stalled_seconds = 600;  // a judgement that says nothing for so long is given up: its lease is not renewed
  // Judge small cases on a simulated GPU, and pass on what is not refused (sieve.h), as long as fewer than `ahead` jobs wait
  // for judges: a sieve that runs far ahead spends its time on what may be withdrawn.
  bool sieve = false;
  int64_t ahead = 64;
  int most_failures = 3;         // of the environment, one job after the other
};

// Returns when it was stopped, or idle for long enough. kUnavailable: the server is gone, or this machine fails;
// kInvalidArgument: the queue belongs to another kind of device.
Result<Served> ServeQueue(Evaluator& evaluator, const RedisAddress& address, const ServeQueueOptions& options);

}  // namespace hone
