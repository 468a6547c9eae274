// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a run: its row in the store and its first event.
#pragma once

#include <string>

#include "hone/tuner/candidate.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"
#include "tuner/agents/prompt_library.h"

namespace hone {

// Creates the run and writes its first event; gives its id. `id` must be new (MakeRunId). A task without a seed
// starts from its oracle, made into a kernel (oracle_reference.h).
// The texts of `prompts` (null: the embedded ones) are stored with it. `version`: of its log, and so of the rules by
// which it goes on; an older one only where a run recorded under that version is repeated. `memory`: what earlier runs
// proved (MemoryFor), kept with the run. `broken_start`: a source that becomes the run's first version, node 1, unchecked.
Result<std::string> StartRun(RunStore& store, const Task& task, const DeviceFacts& facts, const RunOptions& options,
                             const std::string& id, double now, const PromptLibrary* prompts = nullptr,
                             int version = kRunVersion, std::vector<RememberedIdea> memory = {},
                             const std::string& broken_start = {});

}  // namespace hone
