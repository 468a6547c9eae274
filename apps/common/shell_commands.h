// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These commands make a program easy to use in a shell: `help`, `completion`, and hidden ones that shells, the build
// and the tests call.
#pragma once

#include <optional>

#include "common/guide.h"

namespace hone {

// Adds `help [COMMAND…]` and `completion SHELL` to `app`. When one runs, its exit status is stored in `exit_status`.
// Call this before ApplyGuide.
void RegisterShellCommands(CLI::App& app, const Guide& guide, int& exit_status);

// Runs one of the hidden commands and returns its exit status; nullopt when argv is none of them. Call it after
// ApplyGuide.
//   __complete WORDS…  prints the completions of the last word (completion.h)
//   __man FOLDER       writes the manual pages there
//   __examples         prints the guide's examples as JSON
//   __parse ARGUMENTS… parses them as the program would, and runs nothing; the status is 0, or 2 with the usual message
std::optional<int> RunShellCommand(CLI::App& app, const Guide& guide, int argc, char** argv);

}  // namespace hone
