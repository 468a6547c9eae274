// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace hone {

// Runs a command that the program calls as its own child process and returns its exit status; nullopt: argv is none.
std::optional<int> RunHiddenCommand(int argc, char** argv);

}  // namespace hone
