// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts what a queue keeps in Redis, and removes what nobody waits for any more: old answers, jobs that were given up,
// jobs whose submitters are gone, or the whole queue. It needs an administrator's rights, since neither submitters nor
// workers may delete others' keys.
#pragma once

#include <cstdint>

#include "hone/base/status.h"
#include "tuner/queue/redis_connection.h"

namespace hone {

struct QueueContents {
  int64_t answers = 0;
  int64_t answer_bytes = 0;
  int64_t lost = 0;     // bundles without an answer and without an entry in a stream: nobody will judge them
  int64_t dead = 0;     // jobs that were given up
  int64_t waiting = 0;  // jobs that no worker has claimed
};

struct CleanWish {
  bool answers = false;  // answers and lost bundles
  bool dead = false;
  bool waiting = false;      // a submitter that still waits notices, and submits again
  bool all = false;          // every key of the queue, with the name of its device
  double older_seconds = 0;  // only what is at least this old by the server's clock; `all` does not heed it
  bool really = false;       // false: only count
};

struct CleanReport {
  QueueContents there;  // before
  QueueContents meant;  // what the options select; removed if `really`
  int64_t claimed = 0;  // jobs in progress, which only `all` removes
  int64_t workers = 0;  // heard of within the last kSilentSeconds
};

// kInvalidArgument: `all` and `really` while a worker is alive, or rights are missing; kUnavailable: no server. Jobs
// that come or are answered meanwhile lose nothing.
Result<CleanReport> CleanQueue(const RedisAddress& address, const CleanWish& wish);

}  // namespace hone
