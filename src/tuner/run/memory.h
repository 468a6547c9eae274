// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds what earlier runs of a store proved, for a run on another task.
#pragma once

#include <vector>

#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns ideas that were surely faster than their baseline (the lower end of the interval above 1) and became the best
// of their run, in runs of the same class of work on the same device, both modelled or both measured: the surest first,
// 24 at most, from the newest 200 runs. Excludes the same task: runs of its name, of its reference (by hash), of its
// task.toml, and runs in which any version equals the task's seed. Skips unreadable runs.
Result<std::vector<RememberedIdea>> Remember(RunStore& store, const Task& task, const DeviceFacts& facts);

// The same if the options' strategy uses memory; else an empty list.
Result<std::vector<RememberedIdea>> MemoryFor(RunStore& store, const Task& task, const DeviceFacts& facts,
                                              const RunOptions& options);

}  // namespace hone
