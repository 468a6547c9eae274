// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a worker's process says of itself in a queue, and what `hone workers` makes of all of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/queue/job_queue.h"

namespace hone {

struct WorkerReport {
  std::string device;  // "NVIDIA H200"
  int threads = 0;     // jobs judged at once, at most
  int busy = 0;        // jobs under way
  bool sieve = false;  // simulates small cases before a judge with a GPU (sieve.h)
  int64_t passed_on = 0;  // by a sieve, to judges
  int64_t judged = 0, put_back = 0, unreadable = 0;
  double per_minute = 0;     // answers, or jobs passed on, in the last minute
  double seconds = 0;        // since the process began to serve
  std::string last_failure;  // of this machine; empty: none
};

// A report is one JSON object; fields that a newer worker adds are left alone.
std::string EncodeWorkerReport(const WorkerReport& report);
Result<WorkerReport> DecodeWorkerReport(std::string_view json);

// How often a worker says something, and after how long a silent one is thought to be gone.
inline constexpr double kSaySeconds = 5, kSilentSeconds = 20;

// A queue at one moment.
struct QueueState {
  std::string queue;
  QueueCounts counts;
  std::vector<SaidByWorker> workers;
};
// A table for a terminal, a line each; a report that cannot be read is shown as such.
std::string QueueStateText(const QueueState& state);
// {"queue", "waiting", "waiting_sieved", "claimed", "passed_on", "answered", "put_back", "died", "dead", "workers": [{"worker", "seconds_ago",
// "alive", …}]}
std::string QueueStateToJson(const QueueState& state, int indent = 2);

}  // namespace hone
