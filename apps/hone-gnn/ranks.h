// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Manages several processes (ranks) that train one model, for a command. They are started here by --ranks, or elsewhere
// by mpirun, srun or a script that sets rank variables. Each joins the others, and all of them end together.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "gnn/dist/process_group.h"

namespace hone::gnn {

struct RankFlags {
  int ranks = 0;                  // ranks to start on this host; 0: none
  int gpus = 0;                   // ranks to start on this host, each with a GPU of its own; 0: none
  double timeout = 10;            // seconds of silence after which a rank counts as lost
  std::string exchange = "auto";  // see ConnectGpus, gpu.h
};
void AddRankFlags(CLI::App& command, RankFlags& flags);

// Returns which rank this process is, from its environment; kInvalidArgument if the flags contradict that.
Result<RankPlace> ThisRank(const RankFlags& flags);
// Returns whether this process is the one that starts the ranks.
bool StartsRanks(const RankFlags& flags, const RankPlace& place);
// Runs this command again, once as each rank, and waits for them; returns the exit status for all of them.
Result<int> StartRanks(const RankFlags& flags);

// The membership of this process among the ranks, from joining to its end.
class RankSession {
 public:
  // Connects this process to the other ranks; returns at once for a single process.
  Status Join(const RankPlace& place, const RankFlags& flags);
  ProcessGroup& group() { return *group_; }
  bool speaks() const { return !group_ || group_->rank() == 0; }  // whether this rank prints
  int hosts() const;                                              // how many hosts the ranks are on
  // Returns the number of threads for this rank: `wanted_threads`, or if that is 0, the rank's share of this host's
  // cores.
  int Threads(int wanted_threads) const;
  // Ends the membership: leaves the group, or sends the other ranks the reason why this one fails. Returns the exit
  // status. Prints the error if no other rank does.
  int End(const Status& status, int exit_status);

 private:
  RankPlace place_;
  std::unique_ptr<ProcessGroup> group_;
};

}  // namespace hone::gnn
