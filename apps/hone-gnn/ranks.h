// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file handles several processes that train one model, for a command: --ranks starts them here, mpirun, srun or
// rank variables elsewhere; each joins the others, and all of them end together.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "gnn/dist/process_group.h"

namespace hone::gnn {

struct RankFlags {
  int ranks = 0;  // ranks to start on this host; 0: none
  int gpus = 0;   // the same, with one rank for each GPU
  double timeout = 10;
  std::string exchange = "auto";  // see ConnectGpus, gpu.h
};
void AddRankFlags(CLI::App& command, RankFlags& flags);

// Returns what this process is, from its environment; kInvalidArgument where that contradicts the flags.
Result<RankPlace> ThisRank(const RankFlags& flags);
// Returns whether this process is the one that starts the ranks.
bool StartsRanks(const RankFlags& flags, const RankPlace& place);
// Runs this very command once for every rank; returns the exit status for all of them.
Result<int> StartRanks(const RankFlags& flags);

// A RankSession is one process among the ranks, from joining to its end.
class RankSession {
 public:
  Status Join(const RankPlace& place, const RankFlags& flags);
  ProcessGroup& group() { return *group_; }
  bool speaks() const { return !group_ || group_->rank() == 0; }  // whether this rank prints
  int hosts() const;                                              // how many hosts the ranks are on
  // Returns the number of threads for this rank: `wanted`, or where that is 0, its share of this host's.
  int Threads(int wanted) const;
  // Leaves the group, or sends the others the reason why this rank ends. Returns the exit status; prints the error
  // where no other rank does.
  int End(const Status& status, int exit_status);

 private:
  RankPlace place_;
  std::unique_ptr<ProcessGroup> group_;
};

}  // namespace hone::gnn
