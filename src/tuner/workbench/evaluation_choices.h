// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file checks a user's choices for an evaluation against the task and the candidate, before the candidate is
// judged: the judge would take a binding that does not fit for the candidate's fault.
#pragma once

#include <string_view>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"

namespace hone {

// The names of the two choices at the place where the user made them.
struct ChoiceNames {
  std::string_view timed_case = "--case", binding = "--bind";
};

// Returns kInvalidArgument if `request` times a case that the task lacks, or binds a tunable that the candidate lacks.
// Returns Ok for a candidate that does not parse, because the judge has a verdict for that.
Status CheckChoices(const Task& task, const EvaluationRequest& request, const ChoiceNames& names = {});

}  // namespace hone
