// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file compares two candidates: both are checked, and the challenger is timed against the incumbent in pairs.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"

namespace hone {

struct Contest {
  std::string incumbent_source, incumbent_name;
  std::string challenger_source, challenger_name;
  uint64_t seed = 0;  // as in EvaluationRequest
  bool libraries = false;
};

struct ContestOutcome {
  Evaluation evaluation;         // of the challenger; if the incumbent is wrong, of the incumbent
  bool incumbent_right = false;  // false: the incumbent failed its checks, and the challenger was not judged
};

// Judges the incumbent without timing and then, if it is right, the challenger against it. Errors are those of
// Evaluator::Evaluate.
Result<ContestOutcome> CompareCandidates(Evaluator& evaluator, const Task& task, const Contest& contest,
                                         const EvaluationProgress& progress = {});

}  // namespace hone
