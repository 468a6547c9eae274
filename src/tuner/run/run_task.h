// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The task of a run, from the store: what a resumed or repeated run works on.
#pragma once

#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

// The task as it was when the run began, from the store: what a resumed run works on, whatever became of the files.
Result<Task> LoadRunTask(RunStore& store, const RunView& view);

}  // namespace hone
