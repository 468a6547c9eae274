// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds this process's rank, the number of ranks, and rank 0's address, from the variables that launchers set.
//
// Checked in this order: HONE_RANK (our own launcher), RANK and WORLD_SIZE (torchrun and scripts), Open MPI's
// OMPI_COMM_WORLD_*, PMI_* (MPICH and its relatives), SLURM_PROCID of a step that srun started. Rank 0's address is
// MASTER_ADDR and MASTER_PORT if given; otherwise the first host of a Slurm step, or this host when a launcher says
// that all ranks are on it, and ports derived from the job's name, so that every rank knows them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {

struct RankPlace {
  int rank = 0;
  int size = 1;
  int local_rank = 0;          // index among the ranks of this host, which selects the GPU
  std::string launcher;        // such as "mpirun"; empty: none, a single process
  std::string job;             // equal on all ranks of a run, and different for other runs if that can be known
  std::string master_address;  // address of rank 0
  std::vector<int> ports;      // ports of rank 0 to try in turn
  int listener = -1;           // rank 0: the listening socket that it inherited; -1: none
};

// Finds the place. `variable` returns a variable's value, or null. kInvalidArgument: values contradict one another or
// are not numbers, or there are several ranks and no address of rank 0; the message says what to set.
Result<RankPlace> FindRankPlace(const std::function<const char*(const char*)>& variable);

// Returns the first host of a Slurm list: "gpu[07-09,12],login1" -> "gpu07".
std::string FirstHostOfList(const std::string& list);

}  // namespace hone::gnn
