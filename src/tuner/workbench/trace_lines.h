// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A verdict as FlashInfer-Bench writes one down: a line of JSON, a Trace, for each workload that was timed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"

namespace hone {

struct TraceFacts {
  std::string solution;   // the Solution's name
  std::string timestamp;  // ISO 8601
  std::string version;    // version of Hone
  std::string workloads;  // lines of JSON, of workload.jsonl in the task's folder; empty: none, and each timed case is
                          // a workload of its own
};

// Lines without their ends, in the order of the timed cases. A right candidate has lines for the cases that have a
// time. kInvalidArgument, with the remedy: it was right and not timed, or the verdict is not about the candidate.
Result<std::vector<std::string>> TraceLines(const Task& task, const Evaluation& evaluation, const TraceFacts& facts);

}  // namespace hone
