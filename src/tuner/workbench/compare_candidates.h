// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of two candidates is faster? Both are checked; the challenger is timed against the incumbent, in pairs.
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
  Evaluation evaluation;  // the challenger's; the incumbent's if that one is not right
  bool incumbent_right = false;
};

// The incumbent is judged for itself first: nothing can be said against a kernel that is not right. Fails as
// Evaluator::Evaluate does.
Result<ContestOutcome> CompareCandidates(Evaluator& evaluator, const Task& task, const Contest& contest,
                                         const EvaluationProgress& progress = {});

}  // namespace hone
