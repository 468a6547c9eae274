// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes tasks with the test cases that a language model (in the role of the tester) proposes: one to vet a single case
// on the seed, and one with all accepted cases. A task is sent to workers and spools as text, so the cases become part
// of its text.
#pragma once

#include <vector>

#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns the task with these check cases added. kInvalidArgument for an invalid case (a tensor too large or of
// negative size, a dimension missing).
Result<Task> WithCheckCases(const Task& task, const std::vector<ProposedCase>& cases);

// Returns the task with `proposed` as its only check case: the seed is run on it to see whether the case is valid.
// Errors as above; a tensor may have at most 16 Mi elements, since every attempt will run the case.
Result<Task> VettingTask(const Task& task, const ProposedCase& proposed);

}  // namespace hone
