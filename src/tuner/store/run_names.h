// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Resolves a user's name for a run: a full id, a prefix or suffix of one, or "last".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/run_store.h"

namespace hone {

// Returns the run that `name` means. `runs` must be sorted, newest first; `location` is named in errors. Returns
// kNotFound, with the newest runs, if there is no such run, and kInvalidArgument, with the candidates, if the name is
// ambiguous.
Result<RunInfo> MatchRun(const std::vector<RunInfo>& runs, std::string_view name, const std::string& location);

}  // namespace hone
