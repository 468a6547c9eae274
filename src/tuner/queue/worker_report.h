// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes a worker process's report to its queue, and shows all reports for `hone workers`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/queue/job_queue.h"

namespace hone {

struct WorkerReport {
  std::string device;  // "NVIDIA H200"
  JudgeTools tools;    // of its machine
  int threads = 0;     // largest number of jobs in progress at a time
  int busy = 0;        // number of jobs in progress
  bool sieve = false;  // true: this worker is a sieve (sieve.h)
  int64_t passed_on = 0;  // jobs that this sieve passed on to judges
  int64_t judged = 0, put_back = 0, unreadable = 0;  // as in Served
  double per_minute = 0;     // answers, or jobs passed on, in the last minute
  double seconds = 0;        // since the process began to serve
  std::string last_failure;  // last failure of this machine; empty: none
};

// Encode and decode a report as a JSON object. Unknown fields of newer workers are ignored.
std::string EncodeWorkerReport(const WorkerReport& report);
Result<WorkerReport> DecodeWorkerReport(std::string_view json);

// Checks, from the reports of all workers, that candidates with this include set can be judged whichever worker takes
// them. Workers that are silent, that are sieves or that do not state their tools are left out; if none remains,
// `registered` counts, the tools of the last worker that began to judge. kUnavailable names the worker and its reason.
Status CanAllInclude(std::string_view include_set, const std::vector<ReportedWorker>& workers,
                     const JudgeTools& registered);

// Seconds between a worker's reports, and seconds without a report after which it counts as gone.
inline constexpr double kSaySeconds = 5, kSilentSeconds = 20;

// The state of a queue at one moment.
struct QueueState {
  std::string queue;
  QueueCounts counts;
  std::vector<ReportedWorker> workers;
};
// Returns a table for a terminal with one line for each worker; an unreadable report is shown as such.
std::string QueueStateText(const QueueState& state);
// Returns {"queue", "waiting", "waiting_sieved", "claimed", "passed_on", "answered", "put_back", "died", "dead",
// "workers": [{"worker", "seconds_ago", "alive", …}]}
std::string QueueStateToJson(const QueueState& state, int indent = 2);

}  // namespace hone
