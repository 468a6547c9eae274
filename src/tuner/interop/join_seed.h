// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins a kernel that handles only some shapes and the task's seed into one candidate that handles every shape, as the
// judge does, so that a run can start from it as from any seed.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// Joins `source`, a candidate of `task` from the file `file`, with the task's seed. If its plan handles every shape,
// `source` is returned unchanged. Otherwise the seed's alternatives follow its own, and the seed's code is in a
// namespace `hone_seed`, with the first choices of its tunables. kInvalidArgument names the file, the line and the
// remedy if the two cannot be joined: no seed, host mode, a plan with workspaces or tensor maps in the seed, other
// compiler options or headers, alternatives that bind tunables.
Result<std::string> JoinSeed(const Task& task, const std::string& source, const std::string& file);

}  // namespace hone
