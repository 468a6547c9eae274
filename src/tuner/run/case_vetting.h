// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Cases that a tester proposes, as tasks that an evaluator can run. A task travels to workers and spools as its text,
// so the cases are written into the text.
#pragma once

#include <vector>

#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

// The task with these check cases added. kInvalidArgument when one makes no sense (a tensor too large or of negative
// size, a dimension missing).
Result<Task> WithCheckCases(const Task& task, const std::vector<ProposedCase>& cases);

// A task that is checked on this case alone, for vetting it with the seed. The largest tensor is bounded, for a case
// nobody can afford to run at every attempt is no use.
Result<Task> VettingTask(const Task& task, const ProposedCase& proposed);

}  // namespace hone
