// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts the ranks of a run on this host, and waits for them to end.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {

struct LaunchOptions {
  std::vector<std::string> argv;         // command of every rank; argv[0] is a path
  std::vector<std::string> environment;  // "NAME=value"; HONE_RANK and the related variables are added
                                         // (rank_environment.h)
  int ranks = 1;
  // Time in which the other ranks may end by themselves (to save, to report the reason) after the first has failed;
  // then they are killed.
  double grace_seconds = 25;
  // Called for each line that a rank other than 0 writes to its standard error. Its standard output is discarded; rank
  // 0 writes to this process's.
  std::function<void(int rank, std::string_view line)> line;
};

struct LaunchResult {
  // 0 if all ranks succeeded; else the status of the first rank that failed, or 3 if a signal ended it.
  int exit_status = 0;
  std::string failure;  // "rank 2 was ended by signal 9 (Killed)"; empty if a rank ended by itself and reported why
};

// Runs the ranks and returns when all have ended; none is ever left behind: when this process is killed, they are too.
// Forwards SIGINT, SIGTERM and SIGHUP to all ranks. Call it from the main thread of a single-threaded program.
Result<LaunchResult> LaunchRanks(const LaunchOptions& options);

}  // namespace hone::gnn
