// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes a verdict in the format of FlashInfer-Bench: one line of JSON, a Trace, for each workload that was
// timed.
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
  std::string
      workloads;  // text of workload.jsonl in the task's folder; empty: each timed case is a workload of its own
};

// Returns the lines, without line ends, in the order of the timed cases. A candidate that is right has lines for the
// cases that have a time. Returns kInvalidArgument, with the remedy, if the candidate is right and was not timed, or if
// the verdict is not about the candidate.
Result<std::vector<std::string>> TraceLines(const Task& task, const Evaluation& evaluation, const TraceFacts& facts);

}  // namespace hone
