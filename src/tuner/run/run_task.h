// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads the task of a run from the store, for runs that are resumed or replayed.
#pragma once

#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns the task as it was when the run began, whatever has become of its files.
Result<Task> LoadRunTask(RunStore& store, const RunView& view);

}  // namespace hone
