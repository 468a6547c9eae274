// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds ideas that earlier runs in a store proved useful, for a run on another task.
#pragma once

#include <vector>

#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns ideas whose version was surely faster than the one it was timed against (the lower end of the interval is
// above 1) and became the best of its run. Only runs of the same class of work on the same device count, both modelled
// or both measured. At most 24 ideas are returned, the surest first, from the newest 200 runs. Runs of the same task
// are excluded: those with its name, its reference (by hash) or its task.toml, and those in which a version equals its
// seed. Unreadable runs are skipped.
Result<std::vector<RememberedIdea>> Remember(RunStore& store, const Task& task, const DeviceFacts& facts);

// Returns Remember's list if the options' strategy uses memory; otherwise an empty list.
Result<std::vector<RememberedIdea>> MemoryFor(RunStore& store, const Task& task, const DeviceFacts& facts,
                                              const RunOptions& options);

}  // namespace hone
