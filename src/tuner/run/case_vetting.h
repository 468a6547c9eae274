// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns cases that a tester proposes into tasks that an evaluator can run. A task travels to workers and spools as
// text, so the cases are written into the text.
#pragma once

#include <vector>

#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns the task with these check cases added. kInvalidArgument for an invalid case (a tensor too large or of
// negative size, a dimension missing).
Result<Task> WithCheckCases(const Task& task, const std::vector<ProposedCase>& cases);

// Returns a task with this check case alone, for vetting it with the seed. The largest tensor is bounded, because a
// case that is too expensive to run at every attempt is of no use.
Result<Task> VettingTask(const Task& task, const ProposedCase& proposed);

}  // namespace hone
