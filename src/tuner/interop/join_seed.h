// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A run's starting point out of a kernel that serves some shapes and the task's seed for the others, as the judge lets
// them share the work: one candidate that serves every shape, so that all that a run does with its seed goes on as
// usual.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// `source`, a candidate of `task` from the file `file`: as it stands where its plan serves every shape. Else the seed's
// alternatives stand behind its own, and the seed's code in a namespace `hone_seed`, with the first choices of its
// tunables. kInvalidArgument names the file, the line and the remedy where the two cannot be joined: no seed, host
// mode, a plan with workspaces or tensor maps in the seed, other compiler options or headers, alternatives that bind
// tunables.
Result<std::string> JoinSeed(const Task& task, const std::string& source, const std::string& file);

}  // namespace hone
