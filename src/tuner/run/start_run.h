// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Creates a run: its row in the store and its first event.
#pragma once

#include <string>

#include "hone/tuner/candidate.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"
#include "tuner/agents/prompt_library.h"

namespace hone {

// Creates the run, writes its first event and returns its id. `id` must be new (MakeRunId). `now`: seconds since 1970.
// A task without a seed starts from its PyTorch module in eager mode, or from a kernel made from its oracle (oracle_reference.h). The texts of `prompts` (null:
// the embedded ones) are stored with the run. `version`: version of the log, which selects the run's rules; an older
// version is only for the replay of a run that has it. `memory`: ideas that earlier runs proved (MemoryFor), stored with
// the run. `broken_start`: a source that becomes the run's first version, node 1, unchecked; empty: none.
Result<std::string> StartRun(RunStore& store, const Task& task, const DeviceFacts& facts, const RunOptions& options,
                             const std::string& id, double now, const PromptLibrary* prompts = nullptr,
                             int version = kRunVersion, std::vector<RememberedIdea> memory = {},
                             const std::string& broken_start = {});

}  // namespace hone
