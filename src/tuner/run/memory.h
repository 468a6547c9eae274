// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What earlier runs of a store proved, for a run on another task.
#pragma once

#include <vector>

#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

// Ideas that were surely faster than what they were timed against (the lower end of the interval above 1) and became
// the best of their run, in runs of the same class of work on the same device, modelled or measured alike: the surest
// first, 24 at most, from the newest 200 runs. Nothing comes from the same task: not from runs of its name, of its
// reference (by hash), of its task.toml, nor from runs in which any version is the task's seed to the letter. Runs that
// cannot be read are passed over.
Result<std::vector<RememberedIdea>> Remember(RunStore& store, const Task& task, const DeviceFacts& facts);

// The same where the options' strategy looks back at all; else nothing.
Result<std::vector<RememberedIdea>> MemoryFor(RunStore& store, const Task& task, const DeviceFacts& facts,
                                              const RunOptions& options);

}  // namespace hone
