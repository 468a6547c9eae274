// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts runs that outlive the server: each is a separate `hone optimize` in its own session, and shares only its run
// store with any server. A later server finds, watches and stops it like any other run.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone::mcp {

struct BackgroundProgram {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // "NAME=value"
  std::string folder;                    // working directory
  std::string log;                       // file for its output; made with its folder
};

// Starts a program independent of this process: it has its own session, none of our descriptors and no standard input.
Result<pid_t> StartInBackground(const BackgroundProgram& program);

// Returns how a child of StartInBackground ended: its exit status, or 128 plus the signal's number. nullopt: it still
// runs, or is not our child.
std::optional<int> EndOfBackground(pid_t pid);

// Waits until the log of a `hone optimize` names its run. The Status holds the program's messages if it ended without
// one.
Result<std::string> WaitForRunId(pid_t pid, const std::string& log, double seconds);

// Returns the errors in a `hone` program's log: the messages of its standard error, without the program's name.
std::string ComplaintsIn(const std::string& log);

// Returns the process that holds the run now, by the system's table of locks. nullopt: none.
std::optional<pid_t> HolderOfRun(const std::string& store, const std::string& run);

// Asks the run's process to stop in order (current evaluations are finished), and waits. Returns true if no process
// holds it.
bool StopRun(const std::string& store, const std::string& run, double seconds);

}  // namespace hone::mcp
