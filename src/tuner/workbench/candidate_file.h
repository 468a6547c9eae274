// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A candidate as a user names it: a .cu file, or machine code that another compiler made, as a .honek file or as a
// folder with the same files (docs/any-compiler.md).
#pragma once

#include <string>

#include "hone/base/status.h"

namespace hone {

// Reads the candidate's text (core/machine_code.h for machine code). A file that is no zip archive is read as
// ReadSource (task_catalog.h) does. kInvalidArgument names the file, what is wrong in it and what would be right.
Result<std::string> ReadCandidate(const std::string& path);

}  // namespace hone
