// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts the ranks of a run on this host, and ends with them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {

struct LaunchOptions {
  std::vector<std::string> argv;         // of every rank; argv[0] is a path
  std::vector<std::string> environment;  // "NAME=value"; HONE_RANK and what goes with it are added (rank_environment.h)
  int ranks = 1;
  // After the first rank has failed the others have so long to end by themselves (to save, to tell why); then they are
  // killed.
  double grace_seconds = 25;
  // A line that a rank other than 0 wrote to its standard error. Its standard output goes nowhere; rank 0 writes to
  // ours.
  std::function<void(int rank, std::string_view line)> line;
};

struct LaunchResult {
  int exit_status = 0;  // 0: all ended well; else that of the first rank that failed, 3 where a signal ended it
  std::string failure;  // "rank 2 was ended by signal 9 (Killed)"; empty where a rank ended by itself and says why
};

// Returns when every rank has ended; none is left behind, whatever happens: when this process is killed, they are too.
// SIGINT, SIGTERM and SIGHUP that arrive meanwhile go to all ranks. Call it from the main thread of a program that has
// no others.
Result<LaunchResult> LaunchRanks(const LaunchOptions& options);

}  // namespace hone::gnn
