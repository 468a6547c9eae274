// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Collects the kernels to export to a user's program: a run's winner, the seed as its fallback and the rule that
// selects one of them by shape; or a candidate's file with its own plan's conditions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "hone/tuner/task.h"

namespace hone {

// One timed shape, with the times that decide the rule.
struct PackagedShape {
  Dims dims;
  double winner_us = 0, seed_us = 0;
  Interval speedup;   // seed / winner
  bool wins = false;  // certainly faster: the lower end of the interval is above 1 (modelled times: the value itself)
};

struct KernelPackage {
  Task task;
  Candidate winner, seed;
  Binding winner_binding;                // the seed runs with its first choices
  std::vector<std::string> seed_shapes;  // expressions over the dimensions; if one holds, the seed runs
  std::vector<PackagedShape> shapes;
  std::string run;  // empty: from a file
  int64_t node = 0;
  std::string file;  // the candidate's file; empty: from a run
  std::string device;
  bool modelled = false;
  bool paired = false;  // the times come from a pairing of the winner with the seed itself
  std::string guarantee = "full";
};

// Makes a package from a candidate's file for `task`, named `file` in messages: it runs for every shape that its plan
// handles, and the task's seed for the others, as when it is judged; there are no times. If the winner needs a newer
// device than the present one, the seed runs too. kInvalidArgument when the file is not a candidate of the task or is
// in host mode.
Result<KernelPackage> MakeFilePackage(const Task& task, std::string_view source, const std::string& file);

// Makes a package from a run. `node` < 0: the run's best, which must have passed its final pairing with the seed.
// Another node uses its times and the seed's, each from its own sitting. kInvalidArgument says what the run lacks, and
// the remedy.
Result<KernelPackage> MakeKernelPackage(RunStore& store, const RunView& view, int64_t node = -1);

}  // namespace hone
