// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Several processes that train one model, as a command sees them: --ranks starts them here, mpirun, srun or rank
// variables elsewhere; each joins the others, and all of them end together.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "gnn/dist/process_group.h"

namespace hone::gnn {

struct RankFlags {
  int ranks = 0;  // to start on this host; 0: none
  int gpus = 0;   // likewise, one for each GPU
  double timeout = 10;
  std::string exchange = "auto";  // ConnectGpus, gpu.h
};
void AddRankFlags(CLI::App& command, RankFlags& flags);

// What this process is, from its environment; kInvalidArgument where that and the flags contradict each other.
Result<RankPlace> ThisRank(const RankFlags& flags);
// Whether this process is the one that starts the ranks.
bool StartsRanks(const RankFlags& flags, const RankPlace& place);
// Runs this very command once for every rank; the exit status of them all.
Result<int> StartRanks(const RankFlags& flags);

// One process among the ranks, from joining to its end.
class RankSession {
 public:
  Status Join(const RankPlace& place, const RankFlags& flags);
  ProcessGroup& group() { return *group_; }
  bool speaks() const { return !group_ || group_->rank() == 0; }  // whether this rank prints
  int hosts() const;                                              // that the ranks are on
  // How many threads this rank computes with: `wanted`, or where that is 0 its part of this host's.
  int Threads(int wanted) const;
  // Lets go of the others, or tells them why this one ends. The exit status; prints the error where no other rank does.
  int End(const Status& status, int exit_status);

 private:
  RankPlace place_;
  std::unique_ptr<ProcessGroup> group_;
};

}  // namespace hone::gnn
