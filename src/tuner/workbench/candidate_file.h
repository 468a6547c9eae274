// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file reads a candidate that a user names: a .cu file, or machine code of another compiler, as a .honek file (a
// zip archive) or as a folder with the same files (docs/any-compiler.md).
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/interop/read/plain_kernel.h"

namespace hone {

// Returns the candidate's text; for machine code, that is the text of core/program/machine_code.h. A file that is no zip
// archive is read by ReadSource (task_catalog.h). Returns kInvalidArgument with the file, what is wrong in it, and what
// would be right.
Result<std::string> ReadCandidate(const std::string& path);

// Returns the same as a candidate of `task`: a .cu file without a launch plan gets one (tuner/interop/read/plain_kernel.h),
// and `note` says which; a winner file (winner_file.h) gives the candidate that it names, with its winners.
// kInvalidArgument as above, and if no plan fits the file.
Result<PlannedKernel> ReadCandidateOf(const Task& task, const std::string& path);

}  // namespace hone
