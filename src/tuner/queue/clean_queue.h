// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts what a queue keeps in Redis, and removes what nobody waits for any more: old answers, jobs that were given up,
// jobs whose submitters are gone, or the whole queue. This needs an administrator's rights, because neither submitters
// nor workers may delete others' keys.
#pragma once

#include <cstdint>

#include "hone/base/status.h"
#include "tuner/queue/redis_connection.h"

namespace hone {

struct QueueContents {
  int64_t answers = 0;
  int64_t answer_bytes = 0;  // size of the answers
  int64_t lost = 0;     // bundles without an answer and without an entry in a stream: nobody will judge them
  int64_t dead = 0;     // entries in the list of jobs that were given up
  int64_t waiting = 0;  // jobs that no worker has claimed
};

// CleanOptions select what is to be removed.
struct CleanOptions {
  bool answers = false;      // answers and lost bundles
  bool dead = false;         // the list of jobs that were given up
  bool waiting = false;      // waiting jobs; a submitter that still waits notices, and submits its job again
  bool all = false;          // every key of the queue, with the name of its device
  double older_seconds = 0;  // selects only what is at least this old by the server's clock; `all` ignores it
  bool really = false;       // false: count, and remove nothing
};

struct CleanReport {
  QueueContents there;  // all contents, before anything was removed
  QueueContents meant;  // the part that CleanOptions selects; removed if `really`
  int64_t claimed = 0;  // jobs in progress, which only `all` removes
  int64_t workers = 0;  // worker processes that reported within the last kSilentSeconds
};

// Counts the queue's contents, and removes those that `options` selects. Returns kInvalidArgument for `all` with
// `really` while a worker is alive, or if rights are missing, and kUnavailable if there is no server. Jobs that are
// submitted or answered meanwhile are not lost.
Result<CleanReport> CleanQueue(const RedisAddress& address, const CleanOptions& options);

}  // namespace hone
