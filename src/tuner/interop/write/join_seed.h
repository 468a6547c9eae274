// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins a candidate that handles only some shapes with the task's seed, into one candidate that handles every shape. A
// run can then start from it as from any seed. The judge runs the seed for the same shapes.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns `source`, a candidate of `task` from the file `file`, joined with the task's seed. If the candidate's plan
// handles every shape, `source` is returned unchanged. Otherwise the seed's plan entries follow the candidate's own,
// and the seed's code is in a namespace `hone_seed`, with its tunables at their first choices. kInvalidArgument names
// the file, the line and the remedy if the two cannot be joined: the task has no seed, one of them is in host mode, the
// seed's plan has workspaces or tensor maps, compiler options or headers differ, plan entries bind tunables.
Result<std::string> JoinSeed(const Task& task, const std::string& source, const std::string& file);

}  // namespace hone
