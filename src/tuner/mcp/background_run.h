// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts runs that outlive the server. Each is a separate process `hone optimize` in a session of its own, which shares
// only its run store with any server. A later server finds, watches and stops it like any other run.
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
  std::string log;                       // file for the program's output; made together with its folder
};

// Starts a program that is independent of this process: it has a session of its own, inherits no descriptors, and has
// no standard input.
Result<pid_t> StartInBackground(const BackgroundProgram& program);

// Returns how a child of StartInBackground ended: its exit status, or 128 plus the signal's number. Returns nullopt if
// it still runs, or is not a child of this process.
std::optional<int> EndOfBackground(pid_t pid);

// Waits until the log of a `hone optimize` names its run, and returns the run's ID. If the program ends without a run,
// the Status has its messages.
Result<std::string> WaitForRunId(pid_t pid, const std::string& log, double seconds);

// Returns the errors in a `hone` program's log: the messages of its standard error, without the program's name.
std::string ComplaintsIn(const std::string& log);

// Returns the process that holds the run's lock now, by the system's table of locks; nullopt: none.
std::optional<pid_t> HolderOfRun(const std::string& store, const std::string& run);

// Asks the run's process to stop after its current evaluations, and waits up to `seconds`. Returns true if no process
// holds the run any more.
bool StopRun(const std::string& store, const std::string& run, double seconds);

}  // namespace hone::mcp
