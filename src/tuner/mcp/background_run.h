// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that outlive the server that started them: each is a `hone optimize` of its own, in a session of its own, and
// its run store is all that it and any server share. A server that was not there when a run began finds, watches and
// stops it like any other.
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
  std::string folder;                    // where it runs
  std::string log;                       // what it prints goes there; made, with its folder
};

// Starts a program that nothing ties to this process: it has a session of its own, none of our descriptors and no
// standard input.
Result<pid_t> StartInBackground(const BackgroundProgram& program);

// How a child of StartInBackground ended: its exit status, or 128 and the signal's number. nullopt: it still runs, or
// is no child of ours.
std::optional<int> EndOfBackground(pid_t pid);

// Waits until the log of a `hone optimize` says which run it is. The Status holds what the program said where it ended
// without one.
Result<std::string> WaitForRunId(pid_t pid, const std::string& log, double seconds);

// What a `hone` program complained of in its log: the messages of its standard error, without the program's name.
std::string ComplaintsIn(const std::string& log);

// The process that holds the run now, by the system's table of locks. nullopt: none does.
std::optional<pid_t> HolderOfRun(const std::string& store, const std::string& run);

// Asks the run's process to stop in order (the evaluations under way are finished), and waits. true: nobody holds it.
bool StopRun(const std::string& store, const std::string& run, double seconds);

}  // namespace hone::mcp
