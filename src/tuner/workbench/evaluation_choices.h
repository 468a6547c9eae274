// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user chooses of an evaluation, checked against the task and the candidate before a judge is asked: to the
// judge a binding that does not fit would be the candidate's fault.
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

// kInvalidArgument where `request` times a case that the task lacks, or binds a tunable that the candidate lacks. A
// candidate that does not parse is left to the judge, whose verdict that is.
Status CheckChoices(const Task& task, const EvaluationRequest& request, const ChoiceNames& names = {});

}  // namespace hone
